-- id: B19
-- title: Feature level is below the supported level
-- severity: medium
-- tags: upgrade
-- description: The brokers were upgraded but the feature was not, so its improvements are off.
-- source: Apache Kafka documentation, Upgrading, kafka-features (KIP-584)
-- needs: features
-- absence: features
-- remedy: dynamic, irreversible
SELECT
  cluster,
  feature AS resource,
  CASE WHEN level < highest THEN 'alarm' ELSE 'ok' END AS status,
  concat('level ', level, CASE WHEN level < highest
    THEN concat(', all brokers support ', highest) ELSE '' END) AS reason,
  CASE WHEN level < highest THEN concat('update-features ', feature, '=', highest) END AS remedy,
  CASE WHEN level < highest AND feature <> 'kraft.version'
    THEN concat('update-features ', feature, '=', level) END AS undo
FROM features
