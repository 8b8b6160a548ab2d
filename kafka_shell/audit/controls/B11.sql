-- title: A broker has a dynamic config of its own
-- severity: high
-- tags: hygiene
-- description: A dynamic config applies to this broker alone, and differs from the other brokers or
--   from the cluster-wide default: a retention deletes the records of the partitions it leads, and
--   a limit slows down only its clients. Configs of listeners and addresses may differ. There is no
--   remedy for retention, which can delete records that cannot be restored, and for replication
--   throttles, without which a running reassignment can saturate the network.
-- source: Apache Kafka documentation, Updating broker configs (KIP-226)
-- parameter: besides = listener\.name\..*|(advertised\.)?listeners|.*keystore.*|.*truststore.*|.*\.throttled\.rate
-- fix: broker broker_id key = delete was value if with_remedy
WITH others AS (
  SELECT cluster, key, count(DISTINCT coalesce(value, '')) > 1 AS differ
  FROM broker_configs GROUP BY cluster, key
)
SELECT cluster, concat('broker ', broker_id, ' ', key) AS resource,
  source = 'dynamic_broker'
    AND (cluster_default IS NOT NULL OR differ AND NOT key RLIKE r'^({besides})$') AS bad,
  IF(bad, 'alarm', 'ok') AS status,
  concat({config concat(key, '=', value)}, CASE
    WHEN bad AND cluster_default IS NOT NULL THEN concat(' on this broker, ',
      {config concat(key, '=', cluster_default)}, ' as the cluster-wide default')
    WHEN bad THEN ' on this broker only' ELSE '' END) AS reason,
  broker_id, key, value,
  NOT key RLIKE r'^log\.(local\.)?retention\..*|^log\.cleanup\.policy$|\.throttled\.rate$' AS with_remedy
FROM broker_configs JOIN others USING (cluster, key)
WHERE source IN ('dynamic_broker', 'dynamic_default_broker')
