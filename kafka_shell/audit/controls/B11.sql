-- id: B11
-- title: Broker config overrides the cluster-wide default
-- severity: medium
-- tags: hygiene
-- description: The default of all brokers was changed, but this broker overrides it. There is no
--   remedy for retention, which can delete records that cannot be restored, and for replication
--   throttles, without which a running reassignment can saturate the network.
-- source: Apache Kafka documentation, Updating broker configs (KIP-226)
-- needs: broker_configs
-- remedy: dynamic, disruptive
WITH judged AS (
  SELECT *, source = 'dynamic_broker' AND cluster_default IS NOT NULL AS bad,
    NOT key RLIKE r'^log\.(local\.)?retention\..*|^log\.cleanup\.policy$|\.throttled\.rate$'
      AS with_remedy
  FROM broker_configs WHERE source IN ('dynamic_broker', 'dynamic_default_broker')
)
SELECT
  cluster,
  concat('broker ', broker_id, ' ', key) AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN bad
    THEN concat({config concat(key, '=', value)}, ' on this broker, ',
      {config concat(key, '=', cluster_default)}, ' as the cluster-wide default')
    ELSE {config concat(key, '=', value)} END AS reason,
  CASE WHEN bad AND with_remedy THEN concat('alter-configs --broker-id ', broker_id, ' --delete-config=', key)
  END AS remedy,
  CASE WHEN bad AND with_remedy THEN concat('alter-configs --broker-id ', broker_id, ' ', pair) END AS undo
FROM judged
