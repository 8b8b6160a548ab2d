-- id: S04
-- title: Whoever does not log in is a super user
-- severity: critical
-- tags: access
-- description: super.users names User:ANONYMOUS, who is everyone on a listener without login.
--   Brokers keep the value of a config they do not define to themselves.
-- source: Apache Kafka documentation, Security, super.users
-- needs: broker_configs, brokers
-- remedy: restart, disruptive
SELECT
  b.cluster,
  concat('broker ', b.broker_id) AS resource,
  CASE
    WHEN supers.key IS NULL THEN 'ok'
    WHEN supers.sensitive OR supers.value IS NULL THEN 'skip'
    WHEN supers.value LIKE '%User:ANONYMOUS%' THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN supers.key IS NULL THEN 'super.users is not set'
    WHEN supers.sensitive OR supers.value IS NULL
      THEN 'super.users is set, and the broker does not show to what'
    ELSE concat('super.users is ', supers.value)
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM brokers b
LEFT SEMI JOIN broker_configs read ON read.cluster = b.cluster AND read.broker_id = b.broker_id
LEFT JOIN broker_configs supers
  ON supers.cluster = b.cluster AND supers.broker_id = b.broker_id AND supers.key = 'super.users'
