-- title: Brokers and clients share a listener
-- severity: high
-- tags: availability, access
-- description: Client traffic can slow down replication, and the two cannot be separated in the
--   network.
-- source: Apache Kafka documentation, Security, inter.broker.listener.name (KIP-103)
SELECT cluster, concat('broker ', broker_id) AS resource, count_if(NOT controller) AS listeners,
  max(IF(inter_broker, listener, NULL)) AS own,
  CASE
    WHEN own IS NULL THEN 'skip: the inter-broker listener is unknown'
    WHEN listeners = 1 THEN concat('alarm: ', own, ' is the only listener')
    ELSE concat('ok: ', own, ' is one of ', listeners, ' listeners')
  END AS reason
FROM listeners GROUP BY cluster, broker_id
