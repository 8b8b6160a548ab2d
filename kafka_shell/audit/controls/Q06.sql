-- title: Unlimited topic creation
-- severity: medium
-- tags: quotas
-- description: The user may create topics and has no controller_mutation_rate quota, so a faulty
--   client can overload the controller. The remedy throttles the user if it creates, deletes or
--   extends many topics.
-- source: Apache Kafka documentation, Quotas, controller mutation rate (KIP-599)
-- absence: effective_quotas
-- parameter: rate = 10
-- fix: quota entity 'controller_mutation_rate' = {rate}
WITH creators AS (
  SELECT DISTINCT cluster, substr(principal, 6) AS user FROM acls
  WHERE permission = 'allow' AND principal LIKE 'User:%' AND principal <> 'User:*'
    AND resource_type IN ('topic', 'cluster') AND operation IN ('Create', 'All')
),
limited AS (
  SELECT cluster, user, min(value) AS rate FROM effective_quotas
  WHERE key = 'controller_mutation_rate' AND client_id IS NULL GROUP BY cluster, user
)
SELECT c.cluster, concat('user ', c.user) AS resource, coalesce(own.rate, any.rate) AS least,
  coalesce(concat('ok: controller_mutation_rate is ', {quota concat('controller_mutation_rate=', least)}),
    'alarm: no controller_mutation_rate quota applies') AS reason,
  concat('user ', IF(c.user RLIKE r'^[A-Za-z0-9_@%+=:./-]+$', c.user,
    concat("'", replace(c.user, "'", "'\"'\"'"), "'"))) AS entity
FROM creators c
LEFT JOIN limited own ON own.cluster = c.cluster AND own.user = c.user
LEFT JOIN limited any ON any.cluster = c.cluster AND any.user IS NULL
