-- title: Brokers and clients share a listener
-- severity: high
-- tags: availability, access
-- description: Client traffic can slow down replication, and the two cannot be separated in the
--   network.
-- source: Apache Kafka documentation, Security, inter.broker.listener.name (KIP-103)
WITH doors AS (
  SELECT cluster, broker_id, count_if(NOT controller) AS listeners,
    max(CASE WHEN inter_broker THEN listener END) AS own
  FROM listeners GROUP BY cluster, broker_id
)
SELECT cluster, concat('broker ', broker_id) AS resource,
  CASE WHEN own IS NULL THEN 'skip' WHEN listeners = 1 THEN 'alarm' ELSE 'ok' END AS status,
  CASE
    WHEN own IS NULL THEN 'the inter-broker listener is unknown'
    WHEN listeners = 1 THEN concat(own, ' is the only listener')
    ELSE concat(own, ' is one of ', listeners, ' listeners')
  END AS reason
FROM doors
