-- title: Low default replication factor
-- severity: high
-- tags: durability
-- description: Topics created without a replication factor get this one. A cluster of fewer than
--   three brokers is a finding of B05, not of this control.
-- source: Apache Kafka documentation, Broker configs, default.replication.factor
-- parameter: factor = 3
WITH judged AS (
  SELECT b.*, least({factor}, c.brokers + coalesce(size(c.offline), 0)) AS factor
  FROM broker_configs b JOIN clusters c ON c.cluster = b.cluster
  WHERE key = 'default.replication.factor'
)
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(try_cast(value AS INT) < factor, 'alarm', 'ok') AS status,
  concat('default.replication.factor is ', value,
    CASE WHEN try_cast(value AS INT) < {factor}
      THEN concat('; set it to ', factor, ' in server.properties and restart the broker') ELSE '' END) AS reason
FROM judged
