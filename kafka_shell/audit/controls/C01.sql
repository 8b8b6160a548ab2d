-- title: Producers do not use acks=all
-- severity: high
-- tags: clients, durability, opinion
-- description: Without acks=all, acknowledged records can be lost when one broker fails.
-- source: Apache Kafka documentation, Producer configs, acks
-- fix: client-config entity 'acks' = 'all' was value
SELECT cluster, concat('user ', user, coalesce(concat(' client-id ', client_id), '')) AS resource,
  IF(value NOT IN ('all', '-1'), 'alarm', 'ok') AS status,
  concat('acks is ', value, ', set for the ', level) AS reason,
  entity, value
FROM effective_client_configs WHERE key = 'acks'
