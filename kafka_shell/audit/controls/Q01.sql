-- title: No default quota
-- severity: high
-- tags: quotas, opinion
-- description: A single client can use the whole network bandwidth of a broker. A generous
--   default quota limits all clients that have no quota of their own. The default for the clients
--   of one user, or for the users of one client ID, limits no others. A default user quota takes
--   precedence over the quotas of client IDs: where there are any, the remedy sets the default of
--   all client IDs.
-- source: Apache Kafka documentation, Setting quotas
-- absence: quotas
-- parameter: rate = 104857600
-- fix: quota entity key = {rate}
WITH rates AS (SELECT explode(array('producer_byte_rate', 'consumer_byte_rate')) AS key),
defaults AS (
  SELECT cluster, key, min_by(entity, value) AS entity, min(value) AS value
  FROM quotas
  WHERE (user_default OR client_id_default) AND user IS NULL AND client_id IS NULL
  GROUP BY cluster, key
),
client_ids AS (
  SELECT DISTINCT cluster, key FROM quotas
  WHERE client_id IS NOT NULL AND user IS NULL AND NOT user_default
)
SELECT c.cluster, rates.key AS resource,
  IF(d.key IS NULL, 'alarm', 'ok') AS status,
  CASE WHEN d.key IS NULL THEN concat('no default user or client ID quota sets ', rates.key)
    ELSE concat(d.entity, ': ', {quota concat(d.key, '=', d.value)}) END AS reason,
  IF(i.key IS NULL, 'user-default', 'client-id-default') AS entity, rates.key AS key
FROM clusters c CROSS JOIN rates
LEFT JOIN defaults d ON d.cluster = c.cluster AND d.key = rates.key
LEFT JOIN client_ids i ON i.cluster = c.cluster AND i.key = rates.key
