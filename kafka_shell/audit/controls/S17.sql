-- title: Certificate expires soon or has expired
-- severity: medium
-- tags: encryption, availability
-- description: Clients cannot connect after the certificate has expired. It is read in a TLS
--   handshake with the CA of the profile.
-- source: Apache Kafka documentation, Security, Encryption and authentication using SSL
-- parameter: days = 30
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE
    WHEN expires IS NULL THEN 'skip'
    WHEN expires < collected_at + INTERVAL '{days}' DAY THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN expires IS NULL
      THEN 'not checked: the profile does not use TLS and has no CA to verify with'
    WHEN expires < collected_at
      THEN concat('expired ', date_format(expires, 'yyyy-MM-dd HH:mm'), ' UTC')
    ELSE concat('expires ', date_format(expires, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason
FROM certificates
