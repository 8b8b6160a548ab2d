-- id: T05
-- title: Unclean leader election is enabled
-- severity: high
-- tags: durability
-- description: A replica that is not in sync may become the leader. Records it does not have are
--   lost.
-- source: Apache Kafka documentation, Topic configs, unclean.leader.election.enable
-- needs: topic_configs
-- configs: topic_configs unclean.leader.election.enable
-- remedy: dynamic, safe
SELECT
  cluster,
  topic AS resource,
  CASE WHEN value = 'true' THEN 'alarm' ELSE 'ok' END AS status,
  concat('unclean.leader.election.enable is ', value) AS reason,
  CASE WHEN value = 'true'
    THEN concat('alter-configs --topic=', topic, ' ', {override unclean.leader.election.enable = 'false'})
  END AS remedy,
  CASE WHEN value = 'true' THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config unclean.leader.election.enable')) END AS undo
FROM topic_configs
WHERE key = 'unclean.leader.election.enable'
