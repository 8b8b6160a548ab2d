-- id: T07
-- title: Partition without a leader
-- severity: critical
-- tags: availability
-- description: The partition cannot be read or written until one of its in-sync replicas is back.
--   An unclean leader election makes another replica the leader and loses the records that
--   replica does not have. If all replicas are offline, there is none to elect.
-- source: Apache Kafka documentation, Unclean leader election
-- needs: partitions
-- remedy: dynamic, irreversible
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN leader IS NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN leader IS NULL
    THEN concat('no leader; replicas on brokers ', array_join(replicas, ', '),
      ', in-sync replicas: ', array_join(isr, ', '),
      IF(size(array_except(replicas, offline)) = 0, '; all replicas are offline', ''))
    ELSE concat('leader is broker ', leader)
  END AS reason,
  CASE WHEN leader IS NULL AND size(array_except(replicas, offline)) > 0
    THEN concat('elect-leaders --topic=', topic, ':', partition, ' --election-type unclean')
  END AS remedy,
  NULL AS undo
FROM partitions
