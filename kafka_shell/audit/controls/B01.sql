-- title: Topics are created automatically
-- severity: high
-- tags: hygiene
-- description: A misspelled topic name creates a topic with the default configs of the broker.
-- source: Apache Kafka documentation, Broker configs, auto.create.topics.enable
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(value = 'true', 'alarm', 'ok') AS status,
  CASE WHEN value = 'true'
    THEN concat('auto.create.topics.enable is true; set it to false in server.properties',
      ' and restart the broker')
    ELSE 'auto.create.topics.enable is false' END AS reason
FROM broker_configs
WHERE key = 'auto.create.topics.enable'
