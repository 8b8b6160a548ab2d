-- title: Leftover replication throttle
-- severity: medium
-- tags: performance
-- description: No partition of the topic is being reassigned, but its replicas are throttled: a
--   replica that falls behind cannot catch up. A reassignment that began during the audit needs
--   its throttle: run list-reassignments before you remove it.
-- source: Apache Kafka documentation, Limiting bandwidth usage during data migration (KIP-73)
-- absence: reassignments
-- fix: topic resource overrides[] = delete
SELECT cluster, topic AS resource,
  sort_array(collect_list(CASE WHEN overridden AND value <> '' THEN struct(key, value) END)) AS overrides,
  IF(size(overrides) > 0, concat('alarm: throttled without a reassignment: ',
    array_join(transform(overrides, o -> concat(o.key, '=', o.value)), ', ')), 'ok: not throttled') AS reason
FROM topic_configs
LEFT ANTI JOIN reassignments USING (cluster, topic)
WHERE key IN ('leader.replication.throttled.replicas', 'follower.replication.throttled.replicas')
GROUP BY cluster, topic
