-- title: Resources without an ACL are open to everyone
-- severity: critical
-- tags: access
-- description: Every new topic is open to everyone until it gets an ACL. Brokers do not return
--   values of configs they do not define: if it is set, check the properties file.
-- source: Apache Kafka documentation, Security, allow.everyone.if.no.acl.found
SELECT b.cluster, concat('broker ', b.broker_id) AS resource,
  CASE
    WHEN open.key IS NULL THEN 'ok'
    WHEN open.sensitive OR open.value IS NULL THEN 'info'
    WHEN open.value = 'true' THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN open.key IS NULL THEN 'allow.everyone.if.no.acl.found is not set (default: false)'
    WHEN open.sensitive OR open.value IS NULL
      THEN 'allow.everyone.if.no.acl.found is set, but brokers do not return its value: check the properties file'
    ELSE concat('allow.everyone.if.no.acl.found is ', open.value)
  END AS reason
FROM brokers b
LEFT SEMI JOIN broker_configs read ON read.cluster = b.cluster AND read.broker_id = b.broker_id
LEFT JOIN broker_configs open
  ON open.cluster = b.cluster AND open.broker_id = b.broker_id
  AND open.key = 'allow.everyone.if.no.acl.found'
