-- title: Unclean leader election is enabled
-- severity: high
-- tags: durability
-- description: A replica that is not in sync may become the leader. Records it does not have are
--   lost.
-- source: Apache Kafka documentation, Topic configs, unclean.leader.election.enable
-- risk: safe
-- fix: unclean.leader.election.enable = 'false'
SELECT cluster, topic AS resource,
  IF(value = 'true', 'alarm', 'ok') AS status,
  concat('unclean.leader.election.enable is ', value) AS reason
FROM topic_configs
WHERE key = 'unclean.leader.election.enable'
