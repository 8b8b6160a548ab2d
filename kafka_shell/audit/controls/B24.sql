-- title: A registered broker is offline
-- severity: critical
-- tags: availability, durability
-- description: Partitions with a replica on the broker have fewer copies, and partitions without
--   another copy are unavailable. They are counted here, not reported by other controls. Start the
--   broker, or unregister it if it is gone.
-- source: Apache Kafka documentation, Replication; KIP-1073
WITH down AS (SELECT cluster, explode(offline) AS id FROM clusters),
hit AS (
  SELECT d.cluster, d.id, count(p.topic) AS replicas, count_if(p.topic IS NOT NULL AND p.leader IS NULL)
      AS leaderless,
    count_if(p.leader IS NOT NULL AND size(p.isr) < least(try_cast(k.value AS INT), size(p.replicas)))
      AS blocked,
    count_if(size(p.isr) < size(p.replicas)) AS behind, min(CASE WHEN p.leader IS NULL
      THEN concat(p.topic, ':', p.partition) END) AS example
  FROM down d
  LEFT JOIN partitions p ON p.cluster = d.cluster AND array_contains(p.replicas, d.id)
  LEFT JOIN topic_configs k
    ON k.cluster = p.cluster AND k.topic = p.topic AND k.key = 'min.insync.replicas'
  GROUP BY d.cluster, d.id
)
SELECT cluster, 'brokers' AS resource, 'ok' AS status, 'all registered brokers are online' AS reason
FROM clusters WHERE size(offline) = 0
UNION ALL
SELECT
  cluster,
  concat('broker ', id),
  IF(replicas = 0, 'info', 'alarm'),
  IF(replicas = 0, 'offline, without replicas; unregister-broker removes a broker that is gone',
    concat('offline: ', {number leaderless}, ' partitions without a leader',
      IF(leaderless > 0, concat(' (such as ', example, ')'), ''), ', ', {number blocked},
      ' below min.insync.replicas, ', {number behind}, ' under-replicated'))
FROM hit
