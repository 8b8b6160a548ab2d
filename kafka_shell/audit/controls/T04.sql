-- id: T04
-- title: acks=all can mean a single copy
-- severity: high
-- tags: durability
-- description: With min.insync.replicas=1 the leader alone acknowledges a record. It is lost if
--   that broker is lost.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- needs: topics, topic_configs
-- wants: topic_configs min.insync.replicas
-- parameter: copies = 2
-- remedy: dynamic, safe
WITH judged AS (
  SELECT t.cluster, t.topic, t.min_factor, k.pair, CAST(k.value AS INT) AS wanted,
    t.min_factor >= 3 AND CAST(k.value AS INT) = 1 AS bad
  FROM topics t
  JOIN topic_configs k
    ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
  WHERE NOT t.internal
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('min.insync.replicas is ', wanted, ', replication factor is ', min_factor) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' min.insync.replicas={copies}')
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config min.insync.replicas')) END AS undo
FROM judged
