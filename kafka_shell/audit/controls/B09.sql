-- title: Brokers run different versions
-- severity: medium
-- tags: upgrade
-- description: An upgrade is incomplete: new features are unavailable, and brokers support
--   different API versions.
-- source: Apache Kafka documentation, Upgrading
WITH apis AS (
  SELECT cluster, api, count(DISTINCT lowest, highest) > 1 OR count(*) < max(n) AS differs
  FROM api_versions
  JOIN (SELECT cluster, count(DISTINCT broker_id) AS n FROM api_versions GROUP BY cluster) USING (cluster)
  GROUP BY cluster, api
)
SELECT cluster, 'brokers' AS resource,
  IF(any(differs), concat('alarm: the supported versions of ', count_if(differs),
    ' APIs differ, including ', min(CASE WHEN differs THEN api END)),
    'ok: all brokers support the same API versions') AS reason
FROM apis GROUP BY cluster
