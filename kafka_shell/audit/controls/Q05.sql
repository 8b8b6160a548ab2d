-- title: Request quota is higher than the capacity
-- severity: low
-- tags: quotas
-- description: request_percentage counts every network and I/O thread as 100%. A quota above
--   their sum never limits a client.
-- source: Apache Kafka documentation, Quotas, request rate quotas (KIP-124)
-- absence: broker_configs
-- risk: safe
-- fix: quota entity key = percentage was value
WITH threads AS (
  SELECT cluster, broker_id, 100 * sum(try_cast(value AS INT)) AS percentage
  FROM broker_configs WHERE key IN ('num.io.threads', 'num.network.threads')
  GROUP BY cluster, broker_id
),
most AS (SELECT cluster, max(percentage) AS percentage FROM threads GROUP BY cluster),
judged AS (
  SELECT q.*, most.percentage, q.value > most.percentage AS bad
  FROM quotas q JOIN most ON most.cluster = q.cluster
  WHERE q.key = 'request_percentage'
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  concat({quota concat(key, '=', value)}, ' of ', percentage, '%') AS reason,
  entity, key, value, percentage
FROM judged
