-- title: No authorizer
-- severity: critical
-- tags: access
-- description: Everyone who can connect may do everything; ACLs have no effect.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(coalesce(value, '') = '', 'alarm: authorizer.class.name is not set',
    concat('ok: authorizer.class.name is ', value)) AS reason
FROM broker_configs
WHERE key = 'authorizer.class.name'
