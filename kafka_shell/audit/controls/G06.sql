-- title: Group members without partitions
-- severity: medium
-- tags: groups, opinion
-- description: A partition is assigned to one member at a time, so members in excess of the
--   number of partitions are idle. One idle member may be a hot standby. Members of Kafka Streams
--   may be standbys, and are not checked.
-- source: Apache Kafka documentation, Consumer position and groups
-- parameter: standbys = 1
SELECT cluster, concat('group ', g.group) AS resource, count_if(m.partitions = 0) AS idle,
  IF(idle > {standbys}, 'alarm', 'ok') AS status,
  concat('members without partitions: ', idle, ' of ', count(*)) AS reason
FROM groups g JOIN group_members m USING (cluster, group)
WHERE g.state = 'Stable' AND g.type IN ('classic', 'consumer')
  AND coalesce(g.protocol, 'consumer') = 'consumer'
  AND NOT m.client_id RLIKE '-StreamThread-[0-9]+-consumer$'
GROUP BY cluster, g.group
