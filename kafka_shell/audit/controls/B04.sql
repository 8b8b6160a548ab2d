-- id: B04
-- title: Racks are not configured
-- severity: high
-- tags: durability
-- description: Kafka can spread replicas over racks only if broker.rack is set on every broker
--   and there are at least two racks.
-- source: Apache Kafka documentation, Broker configs, broker.rack (KIP-36)
-- needs: brokers
-- absence: brokers
-- remedy: restart, safe
WITH racks AS (
  SELECT cluster, count(*) AS brokers, count(rack) AS with_rack, count(DISTINCT rack) AS racks
  FROM brokers GROUP BY cluster
)
SELECT
  cluster,
  'brokers' AS resource,
  CASE WHEN with_rack < brokers OR racks < 2 THEN 'alarm' ELSE 'ok' END AS status,
  CASE
    WHEN with_rack = 0 THEN 'broker.rack is not set on any broker'
    WHEN with_rack < brokers
      THEN concat(with_rack, ' of ', brokers, ' brokers have broker.rack set')
    WHEN racks < 2 THEN 'all brokers are in the same rack'
    ELSE concat(racks, ' racks')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM racks
