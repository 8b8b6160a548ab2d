-- title: Partition without a leader
-- severity: critical
-- tags: availability
-- description: The partition cannot be read or written until one of its in-sync replicas is back.
--   An unclean leader election makes another replica the leader and loses the records that
--   replica does not have. Where all in-sync replicas, or if there are none all replicas, are on
--   offline brokers, B24 counts the partition: start the broker.
-- source: Apache Kafka documentation, Unclean leader election
-- fix: leader resource = try_element_at(array_except(replicas, offline), 1)
WITH down AS (SELECT cluster, offline AS down FROM clusters)
SELECT cluster, concat(topic, ':', partition) AS resource,
  IF(leader IS NULL AND size(array_except(IF(size(isr) = 0, replicas, isr),
    coalesce(down, array()))) > 0, 'alarm', 'ok') AS status,
  CASE WHEN leader IS NULL
    THEN concat('no leader; replicas on brokers ', array_join(replicas, ', '),
      ', in-sync replicas: ', array_join(isr, ', '),
      IF(size(array_except(replicas, offline)) = 0, '; all replicas are offline', ''))
    ELSE concat('leader is broker ', leader)
  END AS reason,
  replicas, offline
FROM partitions LEFT JOIN down USING (cluster)
