-- The topics that MirrorMaker copies to a cluster. It writes ALIAS.checkpoints.internal there, and
-- ALIAS.TOPIC; with the identity policy, any topic may be a copy.
SELECT DISTINCT cluster, topic, true AS is_copy
FROM (
  SELECT cluster, alias, count_if(topic LIKE 'mm2-%' OR topic = 'heartbeats') > 0
    AND count_if(startswith(topic, alias) AND topic NOT LIKE '%.internal'
      AND topic NOT LIKE '%.heartbeats') = 0 AS identity
  FROM (
    SELECT cluster, replace(topic, 'checkpoints.internal', '') AS alias FROM topics
    WHERE topic LIKE '%.checkpoints.internal'
  ) JOIN topics USING (cluster) GROUP BY cluster, alias
) JOIN topics USING (cluster) WHERE startswith(topic, alias) OR identity
