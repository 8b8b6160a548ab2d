-- id: S03
-- title: What has no ACL is open to everyone
-- severity: critical
-- tags: access
-- description: Every new topic is open until somebody thinks of it. Brokers keep the value of a
--   config they do not define to themselves: where it is set, one has to look in the file.
-- source: Apache Kafka documentation, Security, allow.everyone.if.no.acl.found
-- needs: broker_configs, brokers
-- remedy: restart, disruptive
SELECT
  b.cluster,
  concat('broker ', b.broker_id) AS resource,
  CASE
    WHEN open.key IS NULL THEN 'ok'
    WHEN open.sensitive OR open.value IS NULL THEN 'skip'
    WHEN open.value = 'true' THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN open.key IS NULL THEN 'allow.everyone.if.no.acl.found is not set, and so false'
    WHEN open.sensitive OR open.value IS NULL
      THEN 'allow.everyone.if.no.acl.found is set, and the broker does not show to what'
    ELSE concat('allow.everyone.if.no.acl.found is ', open.value)
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM brokers b
LEFT SEMI JOIN broker_configs read ON read.cluster = b.cluster AND read.broker_id = b.broker_id
LEFT JOIN broker_configs open
  ON open.cluster = b.cluster AND open.broker_id = b.broker_id
  AND open.key = 'allow.everyone.if.no.acl.found'
