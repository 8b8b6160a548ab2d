-- id: B09
-- title: Brokers speak different versions
-- severity: medium
-- tags: upgrade
-- description: An upgrade has stopped half way: new features wait, and clients see two kinds of
--   brokers.
-- source: Apache Kafka documentation, Upgrading
-- needs: api_versions
WITH apis AS (
  SELECT a.cluster, api,
    count(DISTINCT lowest, highest) > 1 OR count(*) < max(brokers.n) AS differs
  FROM api_versions a
  JOIN (SELECT cluster, count(DISTINCT broker_id) AS n FROM api_versions GROUP BY cluster) brokers
    ON brokers.cluster = a.cluster
  GROUP BY a.cluster, api
)
SELECT
  cluster,
  'brokers' AS resource,
  CASE WHEN any(differs) THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN any(differs)
    THEN concat('they differ in ', count_if(differs), ' APIs, among them ',
      min(CASE WHEN differs THEN api END))
    ELSE 'all speak the same' END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM apis
GROUP BY cluster
