-- title: Host names are not verified
-- severity: high
-- tags: encryption
-- description: If ssl.endpoint.identification.algorithm is empty, a broker accepts any
--   certificate of the CA from the broker or controller it connects to. Listeners to which only
--   clients connect are not affected. Brokers store a dynamic value, but read it only when they
--   start.
-- source: Apache Kafka documentation, Broker configs, ssl.endpoint.identification.algorithm
WITH judged AS (
  SELECT l.*, l.identification = '' AND (l.inter_broker OR l.controller) AS bad,
    d.key IS NOT NULL AND (l.inter_broker OR l.controller) AS dynamic
  FROM listeners l
  LEFT JOIN broker_configs d ON d.cluster = l.cluster AND d.broker_id = l.broker_id
    AND d.key = concat('listener.name.', lower(l.listener),
      '.ssl.endpoint.identification.algorithm')
    AND d.source LIKE 'dynamic%'
  WHERE l.protocol IN ('SSL', 'SASL_SSL')
)
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN bad THEN 'alarm' WHEN dynamic THEN 'skip' ELSE 'ok' END AS status,
  concat('ssl.endpoint.identification.algorithm is ',
    CASE WHEN identification = '' THEN 'empty' ELSE identification END, CASE
    WHEN dynamic THEN concat(' (dynamic config, not effective until the broker restarts);',
      ' set it to https in server.properties, delete the dynamic config and restart the broker')
    WHEN bad THEN '; set it to https in server.properties and restart the broker'
    WHEN identification = '' THEN '; brokers do not connect to this listener'
    ELSE '' END) AS reason
FROM judged
