-- id: Q01
-- title: No default quota
-- severity: high
-- tags: quotas
-- description: One client that nobody thought of can take all of a broker's network. Generous
--   defaults bind whom no other quota binds.
-- source: Apache Kafka documentation, Setting quotas
-- needs: quotas, clusters
-- parameter: rate = 104857600
-- remedy: dynamic, disruptive
WITH rates AS (SELECT explode(array('producer_byte_rate', 'consumer_byte_rate')) AS key),
defaults AS (
  SELECT cluster, key, min_by(entity, value) AS entity, min(value) AS value
  FROM quotas WHERE user_default OR client_id_default GROUP BY cluster, key
)
SELECT
  c.cluster,
  rates.key AS resource,
  CASE WHEN d.key IS NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN d.key IS NULL THEN concat('no default of users or client ids has a ', rates.key)
    ELSE concat(d.entity, ': ', CAST(d.value AS BIGINT)) END AS reason,
  CASE WHEN d.key IS NULL THEN concat('alter-quotas --user-default ', rates.key, '={rate}')
  END AS remedy,
  CASE WHEN d.key IS NULL THEN concat('alter-quotas --user-default --delete-config=', rates.key)
  END AS undo
FROM clusters c CROSS JOIN rates
LEFT JOIN defaults d ON d.cluster = c.cluster AND d.key = rates.key
