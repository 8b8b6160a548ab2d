-- title: Unencrypted passwords
-- severity: high
-- tags: encryption, access
-- description: SASL/PLAIN sends the password itself. Without TLS, it can be read on the network.
-- source: Apache Kafka documentation, Security, SASL/PLAIN
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE
    WHEN protocol <> 'SASL_PLAINTEXT' THEN 'ok'
    WHEN array_contains(sasl_mechanisms, 'PLAIN') THEN 'alarm'
    WHEN size(sasl_mechanisms) = 0 THEN 'skip'
    ELSE 'ok'
  END AS status,
  concat(protocol, ' with ', IF(size(sasl_mechanisms) = 0, 'unknown mechanisms',
    array_join(sasl_mechanisms, ', '))) AS reason
FROM listeners
WHERE protocol LIKE 'SASL%'
