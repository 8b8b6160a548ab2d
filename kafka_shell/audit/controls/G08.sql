-- title: Group uses the classic protocol
-- severity: low
-- tags: groups, upgrade, opinion
-- description: The cluster supports the consumer rebalance protocol, which does not stop all
--   members during a rebalance. Set group.protocol=consumer in the consumers. Kafka Streams has a protocol
--   of its own, and its groups are not checked.
-- source: Apache Kafka documentation, Consumer rebalance protocol (KIP-848)
-- absence: group_members
WITH able AS (
  SELECT cluster, max(level) AS level FROM features WHERE feature = 'group.version'
  GROUP BY cluster
)
SELECT g.cluster, concat('group ', g.group) AS resource,
  IF(g.type = 'classic' AND able.level > 0 AND g.members > 0, 'alarm', 'ok') AS status,
  concat('protocol ', g.type, ', ', g.members, IF(g.members = 1, ' member', ' members')) AS reason
FROM groups g LEFT JOIN able ON able.cluster = g.cluster
LEFT ANTI JOIN group_members m ON m.cluster = g.cluster AND m.group = g.group
  AND m.client_id RLIKE '-StreamThread-[0-9]+-consumer$'
WHERE coalesce(g.protocol, 'consumer') = 'consumer'
