-- id: T07
-- title: Partition without a leader
-- severity: critical
-- tags: availability
-- description: Nobody can write to it or read from it until one of its in-sync replicas is back.
--   An unclean election makes another one the leader, and loses what that has not got.
-- source: Apache Kafka documentation, Unclean leader election
-- needs: partitions
-- remedy: dynamic, irreversible
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN leader IS NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN leader IS NULL
    THEN concat('no leader; its replicas are on ', array_join(replicas, ', '),
      ', last in sync: ', array_join(isr, ', '))
    ELSE concat('led by ', leader)
  END AS reason,
  CASE WHEN leader IS NULL
    THEN concat('elect-leaders --topic=', topic, ':', partition, ' --election-type unclean')
  END AS remedy,
  NULL AS undo
FROM partitions
