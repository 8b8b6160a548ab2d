-- title: Client ID quota is overridden by the default user quota
-- severity: medium
-- tags: quotas
-- description: This quota never applies: the default user quota takes precedence over client ID
--   quotas, even for unauthenticated clients (User:ANONYMOUS). The remedy sets it for the client ID of all users, and a
--   producer_byte_rate as high as Q04 requires. It throttles clients that the default user quota
--   did not throttle so far.
-- source: Apache Kafka documentation, Quotas, order of precedence (KIP-55)
-- absence: quotas
-- fix: quota of_user key = wanted
WITH windows AS (
  SELECT n.cluster, min(try_cast(n.value AS BIGINT) * try_cast(s.value AS BIGINT)) AS seconds
  FROM broker_configs n
  JOIN broker_configs s ON s.cluster = n.cluster AND s.broker_id = n.broker_id
    AND s.key = 'quota.window.size.seconds'
  WHERE n.key = 'quota.window.num' GROUP BY n.cluster
),
least_rates AS (
  SELECT w.cluster, ceil(max(try_cast(m.value AS BIGINT)) / max(w.seconds)) AS rate
  FROM topic_configs m JOIN windows w ON w.cluster = m.cluster
  WHERE m.key = 'max.message.bytes' GROUP BY w.cluster
),
judged AS (
  SELECT q.*, CASE WHEN q.key = 'producer_byte_rate' AND q.value < l.rate
    THEN CAST(l.rate AS STRING) ELSE CAST(q.value AS STRING) END AS wanted, d.value AS outranked_by, n.key IS NULL AND d.key IS NOT NULL AS bad
  FROM quotas q
  LEFT JOIN least_rates l ON l.cluster = q.cluster
  LEFT JOIN quotas d
    ON d.cluster = q.cluster AND d.key = q.key AND d.user_default
    AND d.client_id IS NULL AND NOT d.client_id_default
  LEFT JOIN quotas n
    ON n.cluster = q.cluster AND n.key = q.key AND n.user_default
    AND (n.client_id = q.client_id OR n.client_id_default)
  WHERE q.client_id IS NOT NULL AND q.user IS NULL AND NOT q.user_default
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  CASE WHEN bad THEN concat({quota concat(key, '=', value)}, ' never applies: ',
      'the default user quota is ', {quota concat(key, '=', outranked_by)})
    ELSE {quota concat(key, '=', value)} END AS reason,
  concat('user-default ', entity) AS of_user, key, wanted
FROM judged
