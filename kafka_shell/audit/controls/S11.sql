-- title: Unencrypted passwords
-- severity: high
-- tags: encryption, access
-- description: SASL/PLAIN sends the password itself. Without TLS, it can be read on the network.
-- source: Apache Kafka documentation, Security, SASL/PLAIN
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  size(sasl_mechanisms) = 0 AS unknown,
  concat(CASE WHEN protocol <> 'SASL_PLAINTEXT' THEN 'ok'
      WHEN unknown THEN 'skip' WHEN array_contains(sasl_mechanisms, 'PLAIN') THEN 'alarm' ELSE 'ok' END,
    ': ', protocol, ' with ', IF(unknown, 'unknown mechanisms', array_join(sasl_mechanisms, ', '))) AS reason
FROM listeners
WHERE protocol LIKE 'SASL%'
