-- title: A registered broker is offline
-- severity: critical
-- tags: availability, durability
-- description: Partitions with a replica on the broker have fewer copies, and partitions without
--   another copy are unavailable. They are counted here, not reported by other controls. Start the
--   broker, or unregister it if it is gone.
-- source: Apache Kafka documentation, Replication; KIP-1073
WITH down AS (SELECT cluster, explode(offline) AS id FROM clusters),
hit AS (
  SELECT d.cluster, id, count(topic) AS replicas,
    count_if(topic IS NOT NULL AND leader IS NULL) AS leaderless,
    count_if(leader IS NOT NULL AND size(isr) < least(min_isr, size(p.replicas))) AS blocked,
    count_if(size(isr) < size(p.replicas)) AS behind,
    min(CASE WHEN leader IS NULL THEN concat(topic, ':', partition) END) AS example
  FROM down d LEFT JOIN (
    SELECT p.*, try_cast(min_insync_replicas AS INT) AS min_isr
    FROM partitions p LEFT JOIN {topic_configs min.insync.replicas} USING (cluster, topic)
  ) p ON p.cluster = d.cluster AND array_contains(p.replicas, id)
  GROUP BY d.cluster, id
)
SELECT cluster, 'brokers' AS resource, 'ok: all registered brokers are online' AS reason
FROM clusters WHERE size(offline) = 0
UNION ALL
SELECT cluster, concat('broker ', id), IF(replicas = 0,
  'info: offline, without replicas; unregister-broker removes a broker that is gone',
  concat('alarm: offline: ', {number leaderless}, ' partitions without a leader',
    IF(leaderless > 0, concat(' (such as ', example, ')'), ''), ', ', {number blocked},
    ' below min.insync.replicas, ', {number behind}, ' under-replicated'))
FROM hit
