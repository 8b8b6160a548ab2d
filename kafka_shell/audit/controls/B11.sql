-- id: B11
-- title: A broker's own config shadows the default of all
-- severity: medium
-- tags: hygiene
-- description: The default was changed for all brokers, and this one does not follow.
-- source: Apache Kafka documentation, Updating broker configs (KIP-226)
-- needs: broker_configs
-- remedy: dynamic, safe
WITH judged AS (
  SELECT *, source = 'dynamic_broker' AND cluster_default IS NOT NULL AS bad
  FROM broker_configs WHERE source IN ('dynamic_broker', 'dynamic_default_broker')
)
SELECT
  cluster,
  concat('broker ', broker_id, ' ', key) AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN bad THEN concat(value, ' here, ', cluster_default, ' for all brokers')
    ELSE concat(value) END AS reason,
  CASE WHEN bad THEN concat('alter-configs --broker-id ', broker_id, ' --delete-config=', key)
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --broker-id ', broker_id, ' ', pair) END AS undo
FROM judged
