-- title: Producers do not use acks=all
-- severity: high
-- tags: clients, durability, opinion
-- description: Without acks=all, acknowledged records can be lost when one broker fails.
-- source: Apache Kafka documentation, Producer configs, acks
-- fix: client-config entity 'acks' = 'all' was value
WITH judged AS (
  SELECT e.*, e.value NOT IN ('all', '-1') AS bad
  FROM effective_client_configs e WHERE e.key = 'acks'
)
SELECT cluster, concat('user ', j.user, coalesce(concat(' client-id ', client_id), '')) AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  concat('acks is ', value, ', set for the ', level) AS reason,
  entity, value
FROM judged j
