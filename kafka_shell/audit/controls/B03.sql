-- title: Default min.insync.replicas is 1
-- severity: high
-- tags: durability
-- description: Topics without their own min.insync.replicas use this value, so acks=all can mean
--   a single copy. Kafka uses the replication factor where that is lower, as on a single broker. There is no remedy where
--   the default of all brokers would change nothing, or would lower the value of a broker.
-- source: Apache Kafka documentation, Broker configs, min.insync.replicas
-- parameter: copies = 2
-- fix: broker-default '' 'min.insync.replicas' = {copies}
--   was coalesce(cluster_default, IF(kept, CAST(lowest AS STRING), NULL)) if raises
WITH judged AS (
  SELECT cluster, min(try_cast(value AS INT)) AS lowest, max(cluster_default) AS cluster_default,
    min(CASE WHEN source <> 'dynamic_broker' THEN try_cast(value AS INT) END) AS inherited,
    max(CASE WHEN source <> 'dynamic_broker' THEN try_cast(value AS INT) END) AS most_inherited,
    array_join(array_sort(collect_list(
      CASE WHEN try_cast(value AS INT) < {copies} THEN broker_id END)), ', ') AS low
  FROM broker_configs WHERE key = 'min.insync.replicas' GROUP BY cluster
),
-- where eligible leader replicas are on, the default of all brokers can be set but not deleted
kept AS (
  SELECT cluster, max(level) > 0 AS kept FROM features
  WHERE feature = 'eligible.leader.replicas.version' GROUP BY cluster
)
SELECT cluster, 'brokers' AS resource,
  IF(lowest < {copies} AND c.brokers + coalesce(size(c.offline), 0) > 1, 'alarm', 'ok') AS status,
  concat('min.insync.replicas is ', IF(lowest < {copies}, concat(lowest, ' on brokers ', low),
    concat('at least ', lowest))) AS reason,
  cluster_default, kept, lowest, inherited = lowest AND most_inherited <= {copies} AS raises
FROM judged JOIN clusters c USING (cluster) LEFT JOIN kept USING (cluster)
