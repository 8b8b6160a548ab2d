-- id: S17
-- title: Certificate expires soon
-- severity: medium
-- tags: encryption, availability
-- description: When it has expired nobody can connect. It is read in a handshake with the CA that
--   the profile trusts.
-- source: Apache Kafka documentation, Security, Encryption and authentication using SSL
-- needs: certificates
-- parameter: days = 30
SELECT
  cluster,
  concat('broker ', broker_id, ' ', listener) AS resource,
  CASE
    WHEN expires IS NULL THEN 'skip'
    WHEN expires < collected_at + INTERVAL '{days}' DAY THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN expires IS NULL THEN 'the profile does not speak TLS, and so names no CA to check with'
    ELSE concat('it ends ', date_format(expires, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM certificates
