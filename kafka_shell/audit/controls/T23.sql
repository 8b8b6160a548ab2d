-- title: Leftover replication throttle
-- severity: medium
-- tags: performance
-- description: No partition of the topic is being reassigned, but its replicas are throttled: a
--   replica that falls behind cannot catch up. A reassignment that began during the audit needs
--   its throttle: run list-reassignments before you remove it.
-- source: Apache Kafka documentation, Limiting bandwidth usage during data migration (KIP-73)
-- absence: reassignments
-- fix: topic resource overrides[] = delete
WITH judged AS (
  SELECT k.cluster, k.topic,
    sort_array(collect_list(CASE WHEN overridden AND value <> '' THEN struct(key, value) END))
      AS overrides,
    array_sort(collect_list(CASE WHEN overridden AND value <> '' THEN concat(key, '=', value) END)) AS pairs
  FROM topic_configs k
  LEFT ANTI JOIN reassignments r ON r.cluster = k.cluster AND r.topic = k.topic
  WHERE k.key IN ('leader.replication.throttled.replicas',
                  'follower.replication.throttled.replicas')
  GROUP BY k.cluster, k.topic
)
SELECT cluster, topic AS resource,
  IF(size(pairs) > 0, 'alarm', 'ok') AS status,
  CASE WHEN size(pairs) > 0
    THEN concat('throttled without a reassignment: ', array_join(pairs, ', '))
    ELSE 'not throttled' END AS reason,
  overrides
FROM judged
