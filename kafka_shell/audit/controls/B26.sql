-- title: Limit that shuts out clients
-- severity: high
-- tags: availability
-- description: The broker accepts so few connections that a deployment of clients uses them up; other
--   clients, and with max.connections other brokers, cannot connect.
-- source: Apache Kafka documentation, Broker configs, max.connections, max.connections.per.ip and
--   max.connection.creation.rate
-- parameter: fewest = 20
-- risk: safe
-- fix: broker broker_id key = delete was value if startswith(source, 'dynamic_broker')
SELECT cluster, concat('broker ', broker_id, ' ', key) AS resource,
  IF(try_cast(value AS INT) < {fewest}, 'alarm', 'ok') AS status,
  concat(key, ' is ', value) AS reason,
  broker_id, key, value, source
FROM broker_configs
WHERE key RLIKE r'(^|\.)(max\.connections|max\.connections\.per\.ip|max\.connection\.creation\.rate)$'
