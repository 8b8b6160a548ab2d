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
WITH outranked AS (
  SELECT DISTINCT cluster, key, true AS by_user FROM quotas WHERE user_default AND client_id IS NULL
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(value < CASE key WHEN 'request_percentage' THEN {percentage}
      WHEN 'producer_byte_rate' THEN {bytes} WHEN 'consumer_byte_rate' THEN {bytes} ELSE {rate} END
    AND (by_user IS NULL OR client_id IS NULL OR user IS NOT NULL OR user_default), 'alarm', 'ok') AS status,
  concat(key, ' is ', {quota concat(key, '=', value)}) AS reason,
  entity, key, value
FROM quotas LEFT JOIN outranked USING (cluster, key)
