-- id: S15
-- title: No reauthentication
-- severity: medium
-- tags: access
-- description: Without connections.max.reauth.ms a connection stays open after its token has
--   expired or its user was deleted.
-- source: Apache Kafka documentation, Broker configs, connections.max.reauth.ms (KIP-368)
-- needs: listeners
-- remedy: restart, safe
SELECT
  cluster,
  concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN max_reauth_ms IS NULL THEN 'skip' WHEN max_reauth_ms = 0 THEN 'alarm' ELSE 'ok'
  END AS status,
  CASE WHEN max_reauth_ms IS NULL THEN 'connections.max.reauth.ms is not set'
    ELSE concat('connections.max.reauth.ms is ', {duration max_reauth_ms}) END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM listeners
WHERE protocol LIKE 'SASL%' AND NOT controller
