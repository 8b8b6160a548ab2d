-- title: Brokers run different versions
-- severity: medium
-- tags: upgrade
-- description: An upgrade is incomplete: new features are unavailable, and brokers support
--   different API versions.
-- source: Apache Kafka documentation, Upgrading
WITH apis AS (
  SELECT a.cluster, api,
    count(DISTINCT lowest, highest) > 1 OR count(*) < max(brokers.n) AS differs
  FROM api_versions a
  JOIN (SELECT cluster, count(DISTINCT broker_id) AS n FROM api_versions GROUP BY cluster) brokers
    ON brokers.cluster = a.cluster
  GROUP BY a.cluster, api
)
SELECT cluster, 'brokers' AS resource,
  IF(any(differs), 'alarm', 'ok') AS status,
  CASE WHEN any(differs)
    THEN concat('the supported versions of ', count_if(differs), ' APIs differ, including ',
      min(CASE WHEN differs THEN api END))
    ELSE 'all brokers support the same API versions' END AS reason
FROM apis
GROUP BY cluster
