-- id: S16
-- title: Brokers and clients share a listener
-- severity: high
-- tags: availability, access
-- description: Clients can exhaust what replication needs, and the network cannot keep the two
--   apart.
-- source: Apache Kafka documentation, Security, inter.broker.listener.name (KIP-103)
-- needs: listeners
-- remedy: restart, disruptive
WITH doors AS (
  SELECT cluster, broker_id, count_if(NOT controller) AS listeners,
    max(CASE WHEN inter_broker THEN listener END) AS own
  FROM listeners GROUP BY cluster, broker_id
)
SELECT
  cluster,
  concat('broker ', broker_id) AS resource,
  CASE WHEN own IS NULL THEN 'skip' WHEN listeners = 1 THEN 'alarm' ELSE 'ok' END AS status,
  CASE
    WHEN own IS NULL THEN 'no listener is known to be that between brokers'
    WHEN listeners = 1 THEN concat(own, ' is the only listener')
    ELSE concat(own, ' is one of ', listeners, ' listeners')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM doors
