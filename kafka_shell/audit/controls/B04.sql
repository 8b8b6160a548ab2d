-- id: B04
-- title: Racks are not told
-- severity: high
-- tags: durability
-- description: Without broker.rack on every broker, and at least two of them, Kafka cannot spread
--   replicas over what fails together.
-- source: Apache Kafka documentation, Broker configs, broker.rack (KIP-36)
-- needs: brokers
-- remedy: restart, safe
WITH racks AS (
  SELECT cluster, count(*) AS brokers, count(rack) AS told, count(DISTINCT rack) AS racks
  FROM brokers GROUP BY cluster
)
SELECT
  cluster,
  'brokers' AS resource,
  CASE WHEN told < brokers OR racks < 2 THEN 'alarm' ELSE 'ok' END AS status,
  CASE
    WHEN told = 0 THEN 'no broker has a broker.rack'
    WHEN told < brokers THEN concat(told, ' of ', brokers, ' brokers have a broker.rack')
    WHEN racks < 2 THEN 'all brokers are in one rack'
    ELSE concat(racks, ' racks')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM racks
