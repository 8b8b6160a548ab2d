-- title: No reauthentication
-- severity: medium
-- tags: access
-- description: Without connections.max.reauth.ms a connection stays open after its token has
--   expired or its user was deleted. It can be set for each SASL mechanism of a listener.
-- source: Apache Kafka documentation, Broker configs, connections.max.reauth.ms (KIP-368)
-- absence: broker_configs
WITH mechanisms AS (
  SELECT cluster, broker_id, listener, max_reauth_ms, explode_outer(sasl_mechanisms) AS mechanism
  FROM listeners WHERE protocol LIKE 'SASL%' AND NOT controller
),
limits AS (
  SELECT m.cluster, m.broker_id, m.listener, m.mechanism,
    CASE WHEN own.key IS NULL THEN m.max_reauth_ms ELSE try_cast(own.value AS BIGINT) END AS ms
  FROM mechanisms m
  LEFT JOIN broker_configs own ON own.cluster = m.cluster AND own.broker_id = m.broker_id
    AND own.key = concat('listener.name.', lower(m.listener), '.', lower(m.mechanism),
      '.connections.max.reauth.ms')
),
judged AS (
  SELECT cluster, broker_id, listener, count_if(ms = 0) AS unlimited, count_if(ms IS NULL) AS unknown,
    min(ms) = max(ms) AS same, min(ms) AS ms,
    array_join(array_sort(collect_list(concat({duration ms}, ' for ', mechanism))), ', ') AS each_ms
  FROM limits GROUP BY cluster, broker_id, listener
)
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN unlimited > 0 THEN 'alarm' WHEN unknown > 0 THEN 'skip' ELSE 'ok' END AS status,
  CASE
    WHEN unlimited = 0 AND unknown > 0 THEN 'the broker does not return connections.max.reauth.ms'
    WHEN same THEN concat('connections.max.reauth.ms is ', {duration ms})
    ELSE concat('connections.max.reauth.ms is ', each_ms)
  END AS reason
FROM judged
