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
  SELECT cluster, key, min_by(entity, value) AS entity, min(value) AS value FROM quotas
  WHERE (user_default OR client_id_default) AND user IS NULL AND client_id IS NULL
  GROUP BY cluster, key
),
client_ids AS (
  SELECT DISTINCT cluster, key, true AS named FROM quotas
  WHERE client_id IS NOT NULL AND user IS NULL AND NOT user_default
)
SELECT cluster, key AS resource,
  IF(value IS NULL, concat('alarm: no default user or client ID quota sets ', key),
    concat('ok: ', d.entity, ': ', {quota concat(key, '=', value)})) AS reason,
  IF(named, 'client-id-default', 'user-default') AS entity, key
FROM clusters CROSS JOIN rates
LEFT JOIN defaults d USING (cluster, key)
LEFT JOIN client_ids USING (cluster, key)
