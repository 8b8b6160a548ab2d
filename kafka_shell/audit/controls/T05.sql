-- id: T05
-- title: Unclean leader election is enabled
-- severity: high
-- tags: durability
-- description: A replica that is not in sync may become the leader. Records it does not have are
--   lost.
-- source: Apache Kafka documentation, Topic configs, unclean.leader.election.enable
-- needs: topic_configs
-- risk: safe
-- fix: unclean.leader.election.enable = 'false'
SELECT
  cluster,
  topic AS resource,
  CASE WHEN value = 'true' THEN 'alarm' ELSE 'ok' END AS status,
  concat('unclean.leader.election.enable is ', value) AS reason
FROM topic_configs
WHERE key = 'unclean.leader.election.enable'
