-- id: T11
-- title: Replicas share a rack
-- severity: high
-- tags: durability
-- description: Replicas should be spread over as many racks as possible. If a rack fails, several
--   replicas are lost at once.
-- source: Apache Kafka documentation, Balancing replicas across racks
-- needs: brokers, replicas
-- remedy: dynamic, disruptive
WITH racks AS (
  SELECT cluster, count(DISTINCT rack) AS racks, count_if(rack IS NULL) AS without
  FROM brokers GROUP BY cluster
),
spread AS (
  SELECT r.cluster, r.topic, r.partition, count(*) AS factor,
    count(DISTINCT b.rack) AS racks, count_if(b.broker_id IS NULL) AS unknown
  FROM replicas r
  LEFT JOIN brokers b ON b.cluster = r.cluster AND b.broker_id = r.broker_id
  GROUP BY r.cluster, r.topic, r.partition
)
SELECT
  s.cluster,
  concat(s.topic, ':', s.partition) AS resource,
  CASE
    WHEN s.unknown > 0 THEN 'skip'
    WHEN s.racks < least(s.factor, racks.racks) THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN s.unknown > 0 THEN 'unknown rack: a broker with a replica is offline'
    ELSE concat(s.factor, ' replicas in ', s.racks, ' of ', racks.racks, ' racks')
  END AS reason,
  CASE WHEN s.unknown = 0 AND s.racks < least(s.factor, racks.racks)
    THEN concat('reassign-partitions --topics=', s.topic) END AS remedy,
  NULL AS undo
FROM spread s JOIN racks ON racks.cluster = s.cluster
WHERE racks.without = 0
UNION ALL
SELECT cluster, 'cluster', 'skip', concat(without, ' brokers have no rack, see B04'), NULL, NULL
FROM racks WHERE without > 0
