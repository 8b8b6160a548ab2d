-- title: Leader is not the preferred replica
-- severity: low
-- tags: balance
-- description: After an outage leaders stay on the brokers that were online; the brokers that
--   restarted lead no partitions. With auto.leader.rebalance.enable the controller elects the
--   preferred leaders itself, within minutes.
-- source: Apache Kafka documentation, Balancing leadership; Broker configs,
--   auto.leader.rebalance.enable
-- absence: broker_configs
-- fix: leader resource = preferred_leader was leader
--   if array_contains(isr, preferred_leader) AND NOT array_contains(offline, preferred_leader)
-- risk: safe
WITH automatic AS (
  SELECT DISTINCT cluster, value FROM broker_configs
  WHERE key = 'auto.leader.rebalance.enable' AND value = 'true'
)
SELECT cluster, concat(topic, ':', partition) AS resource,
  IF(leader <> preferred_leader AND value IS NULL, 'alarm', 'ok') AS status,
  concat('leader is broker ', leader, ', preferred leader is broker ', preferred_leader) AS reason,
  leader, preferred_leader, isr, offline
FROM partitions LEFT JOIN automatic USING (cluster)
WHERE leader IS NOT NULL
