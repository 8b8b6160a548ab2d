-- id: T10
-- title: Leader is not the preferred replica
-- severity: low
-- tags: balance
-- description: After an outage leaders stay on the brokers that were online; the brokers that
--   restarted lead no partitions.
-- source: Apache Kafka documentation, Balancing leadership
-- needs: partitions
-- remedy: dynamic, safe
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN leader <> preferred_leader THEN 'alarm' ELSE 'ok' END AS status,
  concat('leader is broker ', leader, ', preferred leader is broker ', preferred_leader) AS reason,
  CASE WHEN leader <> preferred_leader AND array_contains(isr, preferred_leader)
    THEN concat('preferred-replica-leader-election --topic=', topic, ':', partition)
  END AS remedy,
  NULL AS undo
FROM partitions
WHERE leader IS NOT NULL
