-- id: S01
-- title: Listener without encryption
-- severity: critical
-- tags: encryption
-- description: Records are sent unencrypted, and so are passwords with SASL/PLAIN.
-- source: Apache Kafka documentation, Security, Listener configuration
-- needs: listeners
SELECT
  cluster,
  concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN protocol IN ('PLAINTEXT', 'SASL_PLAINTEXT') THEN 'alarm' ELSE 'ok' END AS status,
  protocol AS reason
FROM listeners
