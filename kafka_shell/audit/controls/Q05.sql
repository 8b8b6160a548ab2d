-- title: Request quota is higher than the capacity
-- severity: low
-- tags: quotas
-- description: request_percentage counts every network and I/O thread as 100%. A quota above
--   their sum never limits a client.
-- source: Apache Kafka documentation, Quotas, request rate quotas (KIP-124)
-- absence: broker_configs
-- risk: safe
-- fix: quota entity key = percentage was value
WITH most AS (
  SELECT cluster, max(100 * (try_cast(num_io_threads AS INT) + try_cast(num_network_threads AS INT)))
    AS percentage
  FROM {broker_configs num.io.threads, num.network.threads} GROUP BY cluster
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(value > percentage, 'alarm', 'ok') AS status,
  concat({quota concat(key, '=', value)}, ' of ', percentage, '%') AS reason,
  entity, key, value, percentage
FROM quotas JOIN most USING (cluster)
WHERE key = 'request_percentage'
