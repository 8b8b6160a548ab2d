-- id: T11
-- title: Replicas share a rack
-- severity: high
-- tags: durability
-- description: Replicas should be spread over as many racks as possible. If a rack fails, several
--   replicas are lost at once.
-- source: Apache Kafka documentation, Balancing replicas across racks
-- needs: brokers, partitions
-- remedy: dynamic, disruptive
WITH racks AS (
  SELECT cluster, count(DISTINCT rack) AS racks, count_if(rack IS NULL) AS without,
    map_from_entries(collect_list(struct(broker_id, rack))) AS rack_of
  FROM brokers GROUP BY cluster
),
spread AS (
  SELECT p.cluster, p.topic, p.partition, size(p.replicas) AS factor, r.racks AS existing,
    size(array_distinct(transform(p.replicas, id -> try_element_at(rack_of, id)))) AS racks,
    exists(p.replicas, id -> NOT map_contains_key(rack_of, id)) AS unknown
  FROM partitions p JOIN racks r ON r.cluster = p.cluster
  WHERE r.without = 0
)
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE
    WHEN unknown THEN 'skip'
    WHEN racks < least(factor, existing) THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN unknown THEN 'unknown rack: a broker with a replica is offline'
    ELSE concat(factor, IF(factor = 1, ' replica', ' replicas'), ' in ', racks, ' of ', existing,
      IF(existing = 1, ' rack', ' racks'))
  END AS reason,
  CASE WHEN NOT unknown AND racks < least(factor, existing)
    THEN concat('reassign-partitions --topics=', topic) END AS remedy,
  NULL AS undo
FROM spread
UNION ALL
SELECT cluster, 'cluster', 'skip',
  concat(without, IF(without = 1, ' broker has', ' brokers have'), ' no rack, see B04'), NULL, NULL
FROM racks WHERE without > 0
