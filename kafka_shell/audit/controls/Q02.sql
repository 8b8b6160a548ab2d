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
WITH seconds AS (
  SELECT cluster, min(try_cast(quota_window_num AS BIGINT)
    * try_cast(quota_window_size_seconds AS BIGINT)) AS seconds
  FROM {broker_configs quota.window.num, quota.window.size.seconds} GROUP BY cluster
),
least_rates AS (
  SELECT cluster, ceil(max(try_cast(value AS BIGINT)) / max(seconds)) AS rate
  FROM topic_configs JOIN seconds USING (cluster) WHERE key = 'max.message.bytes' GROUP BY cluster
)
SELECT q.cluster, concat(q.entity, ' ', q.key) AS resource,
  IF(n.key IS NULL AND d.key IS NOT NULL,
    concat('alarm: ', {quota concat(q.key, '=', q.value)}, ' never applies: ',
      'the default user quota is ', {quota concat(q.key, '=', d.value)}),
    concat('ok: ', {quota concat(q.key, '=', q.value)})) AS reason,
  concat('user-default ', q.entity) AS of_user, q.key,
  CAST(IF(q.key = 'producer_byte_rate' AND q.value < rate, rate, q.value) AS STRING) AS wanted
FROM quotas q
LEFT JOIN least_rates l ON l.cluster = q.cluster
LEFT JOIN quotas d ON d.cluster = q.cluster AND d.key = q.key AND d.user_default
  AND d.client_id IS NULL AND NOT d.client_id_default
LEFT JOIN quotas n ON n.cluster = q.cluster AND n.key = q.key AND n.user_default
  AND (n.client_id = q.client_id OR n.client_id_default)
WHERE q.client_id IS NOT NULL AND q.user IS NULL AND NOT q.user_default
