-- title: Quota that stops its clients
-- severity: high
-- tags: quotas, availability
-- description: The quota is so small that clients are throttled all the time: they time out, leave
--   their groups, or cannot connect. Q02 reports quotas that never apply.
-- source: Apache Kafka documentation, Setting quotas
-- absence: quotas
-- parameter: bytes = 10240
-- parameter: percentage = 1
-- parameter: rate = 1
-- fix: quota entity key = delete was value
WITH judged AS (
  SELECT q.*, d.key IS NULL AND value < CASE q.key WHEN 'request_percentage' THEN {percentage}
    WHEN 'producer_byte_rate' THEN {bytes} WHEN 'consumer_byte_rate' THEN {bytes}
    ELSE {rate} END AS bad
  FROM quotas q
  LEFT JOIN (SELECT DISTINCT cluster, key FROM quotas WHERE user_default AND client_id IS NULL) d
    ON d.cluster = q.cluster AND d.key = q.key AND q.user IS NULL AND NOT q.user_default
    AND q.client_id IS NOT NULL
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  concat(key, ' is ', {quota concat(key, '=', value)}) AS reason,
  entity, key, value
FROM judged
