-- title: Racks are not configured
-- severity: high
-- tags: durability
-- description: Kafka can spread replicas over racks only if there are at least two. Brokers without
--   broker.rack count as one more rack, whatever rack they are in. A single broker needs none.
-- source: Apache Kafka documentation, Broker configs, broker.rack (KIP-36)
-- absence: brokers
WITH racks AS (
  SELECT cluster, count(*) AS brokers, count(rack) AS with_rack, count(DISTINCT rack) AS racks
  FROM brokers GROUP BY cluster
)
SELECT cluster, 'brokers' AS resource,
  IF(brokers > 1 AND (with_rack < brokers OR racks < 2), 'alarm', 'ok') AS status,
  CASE
    WHEN with_rack = 0 THEN 'broker.rack is not set on any broker'
    WHEN with_rack < brokers
      THEN concat(with_rack, ' of ', brokers,
        ' brokers have broker.rack set; the others count as one more rack')
    WHEN racks < 2 THEN 'all brokers are in the same rack'
    ELSE concat(racks, ' racks')
  END AS reason
FROM racks
