-- title: Topics are created automatically
-- severity: high
-- tags: hygiene
-- description: A misspelled topic name creates a topic with the default configs of the broker.
-- source: Apache Kafka documentation, Broker configs, auto.create.topics.enable
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(value = 'true', concat('alarm: auto.create.topics.enable is true; set it to false in',
    ' server.properties and restart the broker'), 'ok: auto.create.topics.enable is false') AS reason
FROM broker_configs
WHERE key = 'auto.create.topics.enable'
