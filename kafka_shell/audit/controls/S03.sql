-- title: Resources without an ACL are open to everyone
-- severity: critical
-- tags: access
-- description: Every new topic is open to everyone until it gets an ACL. Brokers do not return
--   values of configs they do not define: if it is set, check the properties file.
-- source: Apache Kafka documentation, Security, allow.everyone.if.no.acl.found
SELECT cluster, concat('broker ', broker_id) AS resource,
  max(IF(key = 'allow.everyone.if.no.acl.found', value, NULL)) AS given,
  CASE WHEN given IS NOT NULL
    THEN concat(IF(given = 'true', 'alarm', 'ok'), ': allow.everyone.if.no.acl.found is ', given)
    WHEN count_if(key = 'allow.everyone.if.no.acl.found') > 0
      THEN 'info: allow.everyone.if.no.acl.found is set, but brokers do not return its value: check the properties file'
    ELSE 'ok: allow.everyone.if.no.acl.found is not set (default: false)' END AS reason
FROM broker_configs GROUP BY cluster, broker_id
