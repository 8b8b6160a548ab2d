-- title: Feature level is below the supported level
-- severity: medium
-- tags: upgrade
-- description: The brokers were upgraded but the feature was not, so its improvements are off.
--   A cluster with static voters (controller.quorum.voters) has kraft.version 0, which is
--   supported.
-- source: Apache Kafka documentation, Upgrading, kafka-features (KIP-584)
-- absence: features
-- fix: feature feature = highest was IF(feature = 'kraft.version', NULL, level)
SELECT cluster, feature AS resource, feature = 'kraft.version' AND level = 0 AS static_voters,
  CASE WHEN level >= highest THEN 'ok' WHEN static_voters THEN 'info' ELSE 'alarm' END AS status,
  concat('level ', level, IF(level < highest, concat(', all brokers support ', highest), ''),
    IF(static_voters, '; the voters are static', '')) AS reason,
  feature, highest, level
FROM features
