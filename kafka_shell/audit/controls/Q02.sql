-- id: Q02
-- title: Client ID quota is overridden by the default user quota
-- severity: medium
-- tags: quotas
-- description: User quotas take precedence over client ID quotas, and so does the default user
--   quota. This quota applies only to unauthenticated clients. The remedy sets it for the client
--   ID of all users.
-- source: Apache Kafka documentation, Quotas, order of precedence (KIP-55)
-- needs: quotas
-- remedy: dynamic, safe
WITH judged AS (
  SELECT q.*, d.value AS outranked_by, n.key IS NULL AND d.key IS NOT NULL AS bad
  FROM quotas q
  LEFT JOIN quotas d
    ON d.cluster = q.cluster AND d.key = q.key AND d.user_default
    AND d.client_id IS NULL AND NOT d.client_id_default
  LEFT JOIN quotas n
    ON n.cluster = q.cluster AND n.key = q.key AND n.user_default
    AND (n.client_id = q.client_id OR n.client_id_default)
  WHERE q.client_id IS NOT NULL AND q.user IS NULL AND NOT q.user_default
)
SELECT
  cluster,
  concat(entity, ' ', key) AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN bad THEN concat({quota concat(key, '=', value)}, ' never applies to an authenticated user: ',
      'the default user quota is ', {quota concat(key, '=', outranked_by)})
    ELSE {quota concat(key, '=', value)} END AS reason,
  CASE WHEN bad THEN concat('alter-quotas --user-default ', options, ' ', key, '=', value)
  END AS remedy,
  CASE WHEN bad THEN concat('alter-quotas --user-default ', options, ' --delete-config=', key)
  END AS undo
FROM judged
