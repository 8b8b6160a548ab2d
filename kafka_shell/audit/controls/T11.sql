-- title: Replicas share a rack
-- severity: high
-- tags: durability
-- description: Replicas should be spread over as many racks as possible. If a rack fails, several
--   replicas are lost at once. Kafka treats brokers without broker.rack as one more rack.
-- source: Apache Kafka documentation, Balancing replicas across racks
-- fix: racks topic = existing
WITH racks AS (
  SELECT cluster, count(DISTINCT coalesce(rack, '')) AS racks,
    map_from_entries(collect_list(struct(broker_id, coalesce(rack, '')))) AS rack_of
  FROM brokers GROUP BY cluster
),
spread AS (
  SELECT p.cluster, p.topic, p.partition, size(p.replicas) AS factor, r.racks AS existing,
    size(array_distinct(transform(p.replicas, id -> try_element_at(rack_of, id)))) AS racks,
    exists(p.replicas, id -> NOT map_contains_key(rack_of, id)) AS unknown
  FROM partitions p JOIN racks r USING (cluster)
)
SELECT cluster, concat(topic, ':', partition) AS resource,
  IF(racks < least(factor, existing), 'alarm', 'ok') AS status,
  concat(factor, IF(factor = 1, ' replica', ' replicas'), ' in ', racks, ' of ', existing,
    IF(existing = 1, ' rack', ' racks')) AS reason,
  topic, existing
FROM spread WHERE NOT unknown
UNION ALL
SELECT cluster, 'cluster', 'skip',
  concat('unknown rack of offline brokers with replicas of ', count(*),
    IF(count(*) = 1, ' partition', ' partitions')), NULL, NULL
FROM spread WHERE unknown GROUP BY cluster
