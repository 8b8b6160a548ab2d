-- The clusters in which users authenticate with SCRAM only.
SELECT cluster, true AS only_scram FROM listeners WHERE NOT controller GROUP BY cluster
HAVING every(protocol IN ('SASL_SSL', 'SASL_PLAINTEXT')
  AND size(sasl_mechanisms) > 0 AND forall(sasl_mechanisms, m -> m LIKE 'SCRAM%'))
