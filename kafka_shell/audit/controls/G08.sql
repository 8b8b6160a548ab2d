-- title: Group uses the classic protocol
-- severity: low
-- tags: groups, upgrade, opinion
-- description: The cluster supports the consumer rebalance protocol, which does not stop all
--   members during a rebalance. Set group.protocol=consumer in the consumers. Kafka Streams has a protocol
--   of its own, and its groups are not checked.
-- source: Apache Kafka documentation, Consumer rebalance protocol (KIP-848)
-- absence: group_members
WITH able AS (
  SELECT cluster, max(level) AS level FROM features WHERE feature = 'group.version' GROUP BY cluster
)
SELECT cluster, concat('group ', g.group) AS resource,
  IF(type = 'classic' AND level > 0 AND members > 0, 'alarm', 'ok') AS status,
  concat('protocol ', type, ', ', members, IF(members = 1, ' member', ' members')) AS reason
FROM groups g LEFT JOIN able USING (cluster)
LEFT ANTI JOIN group_members m ON m.cluster = g.cluster AND m.group = g.group
  AND m.client_id RLIKE '-StreamThread-[0-9]+-consumer$'
WHERE coalesce(protocol, 'consumer') = 'consumer'
