-- title: Certificate expires soon or has expired
-- severity: medium
-- tags: encryption, availability
-- description: Clients cannot connect after the certificate has expired. It is read in a TLS
--   handshake with the CA of the profile.
-- source: Apache Kafka documentation, Security, Encryption and authentication using SSL
-- parameter: days = 30
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  coalesce(concat(IF(expires < collected_at + INTERVAL '{days}' DAY, 'alarm', 'ok'),
    IF(expires < collected_at, ': expired ', ': expires '), date_format(expires, 'yyyy-MM-dd HH:mm'), ' UTC'),
    'skip: not checked: the profile does not use TLS and has no CA to verify with') AS reason
FROM certificates
