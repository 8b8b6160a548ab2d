-- title: Several log directories on one broker
-- severity: low
-- tags: capacity, opinion
-- description: Kafka balances the number of partitions across log directories, not their size:
--   one disk can be full while another is empty.
-- source: Apache Kafka documentation, Hardware and OS, disks and filesystem
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(count(*) > 1, 'alarm', 'ok') AS status,
  concat(count(*), IF(count(*) = 1, ' log directory', ' log directories')) AS reason
FROM log_dirs
GROUP BY cluster, broker_id
