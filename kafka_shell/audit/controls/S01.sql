-- title: Listener without encryption
-- severity: critical
-- tags: encryption
-- description: Records are sent unencrypted, and so are passwords with SASL/PLAIN.
-- source: Apache Kafka documentation, Security, Listener configuration
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  IF(protocol IN ('PLAINTEXT', 'SASL_PLAINTEXT'), 'alarm', 'ok') AS status,
  protocol AS reason
FROM listeners
