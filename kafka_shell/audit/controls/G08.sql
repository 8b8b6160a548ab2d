-- id: G08
-- title: Group uses the classic protocol
-- severity: low
-- tags: groups, upgrade
-- description: The cluster supports the consumer rebalance protocol, which does not stop all
--   members during a rebalance. Set group.protocol=consumer in the consumers.
-- source: Apache Kafka documentation, Consumer rebalance protocol (KIP-848)
-- needs: groups, features
WITH able AS (
  SELECT cluster, max(level) AS level FROM features WHERE feature = 'group.version'
  GROUP BY cluster
)
SELECT
  g.cluster,
  concat('group ', g.group) AS resource,
  CASE WHEN g.type = 'classic' AND able.level > 0 AND g.members > 0 THEN 'alarm' ELSE 'ok'
  END AS status,
  concat('protocol ', g.type, ', ', g.members, ' members') AS reason,
  NULL AS remedy,
  NULL AS undo
FROM groups g LEFT JOIN able ON able.cluster = g.cluster
WHERE coalesce(g.protocol, 'consumer') = 'consumer'
