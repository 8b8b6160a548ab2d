-- title: Racks are not configured
-- severity: high
-- tags: durability
-- description: Kafka can spread replicas over racks only if there are at least two. Brokers without
--   broker.rack count as one more rack, whatever rack they are in. A single broker needs none.
-- source: Apache Kafka documentation, Broker configs, broker.rack (KIP-36)
-- absence: brokers
SELECT cluster, 'brokers' AS resource, count(*) AS brokers, count(rack) AS with_rack,
  CASE
    WHEN brokers > 1 AND with_rack = 0 THEN 'alarm: broker.rack is not set on any broker'
    WHEN brokers > 1 AND with_rack < brokers THEN concat('alarm: ', with_rack, ' of ', brokers,
      ' brokers have broker.rack set; the others count as one more rack')
    WHEN brokers > 1 AND count(DISTINCT rack) < 2 THEN 'alarm: all brokers are in the same rack'
    ELSE concat('ok: racks: ', count(DISTINCT rack))
  END AS reason
FROM brokers GROUP BY cluster
