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
  SELECT m.cluster, m.broker_id, listener, mechanism,
    IF(key IS NULL, max_reauth_ms, try_cast(value AS BIGINT)) AS ms
  FROM mechanisms m
  LEFT JOIN broker_configs own ON own.cluster = m.cluster AND own.broker_id = m.broker_id
    AND key = concat('listener.name.', lower(listener), '.', lower(mechanism), '.connections.max.reauth.ms')
)
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN count_if(ms = 0) = 0 AND count(ms) < count(*)
    THEN 'skip: the broker does not return connections.max.reauth.ms'
    ELSE concat(IF(min(ms) = 0, 'alarm', 'ok'), ': connections.max.reauth.ms is ',
      IF(min(ms) = max(ms), {duration min(ms)},
        array_join(array_sort(collect_list(concat({duration ms}, ' for ', mechanism))), ', ')))
  END AS reason
FROM limits GROUP BY cluster, broker_id, listener
