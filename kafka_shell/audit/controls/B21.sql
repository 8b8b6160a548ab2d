-- id: B21
-- title: Stuck partition reassignment
-- severity: medium
-- tags: capacity
-- description: Kafka does not report when a reassignment started. It is an alarm if two snapshots
--   a day apart contain it, and only mentioned if there is one snapshot.
-- source: Apache Kafka documentation, kafka-reassign-partitions (KIP-455)
-- needs: reassignments
-- parameter: hours = 24
-- remedy: dynamic, disruptive
WITH moves AS (
  SELECT cluster, topic, partition, min(collected_at) AS first, max(collected_at) AS last,
    count(DISTINCT snapshot_id) AS times, max_by(adding, collected_at) AS adding
  FROM reassignments GROUP BY cluster, topic, partition
),
now AS (SELECT cluster, max(collected_at) AS now FROM clusters GROUP BY cluster)
SELECT
  m.cluster,
  concat(topic, ':', partition) AS resource,
  CASE
    WHEN last >= first + INTERVAL '{hours}' HOUR THEN 'alarm'
    WHEN times = 1 THEN 'info'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN times = 1 THEN concat('moving to brokers ', array_join(adding, ', '),
      '; Kafka does not report since when')
    ELSE concat('moving to brokers ', array_join(adding, ', '), ', first seen ',
      date_format(first, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason,
  CASE WHEN last >= first + INTERVAL '{hours}' HOUR
    THEN concat('reassign-partitions --cancel --topics=', topic) END AS remedy,
  NULL AS undo
FROM moves m JOIN now ON now.cluster = m.cluster
WHERE last >= now - INTERVAL '1' HOUR
