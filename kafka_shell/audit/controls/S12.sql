-- title: TLS without authentication
-- severity: high
-- tags: access
-- description: The listener encrypts but does not authenticate clients: no client certificate and
--   no SASL. Brokers store a dynamic ssl.client.auth, but read it only when they start.
-- source: Apache Kafka documentation, Broker configs, ssl.client.auth
WITH judged AS (
  SELECT l.*, l.client_auth <> 'required' AS bad, d.key IS NOT NULL AS dynamic
  FROM listeners l
  LEFT JOIN broker_configs d ON d.cluster = l.cluster AND d.broker_id = l.broker_id
    AND d.key = concat('listener.name.', lower(l.listener), '.ssl.client.auth')
    AND d.source LIKE 'dynamic%'
  WHERE l.protocol = 'SSL'
)
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN bad THEN 'alarm' WHEN dynamic THEN 'skip' ELSE 'ok' END AS status,
  concat('ssl.client.auth is ', client_auth, CASE
    WHEN dynamic THEN concat(' (dynamic config, not effective until the broker restarts);',
      ' set it to required in server.properties, delete the dynamic config and restart the broker')
    WHEN bad THEN '; set it to required in server.properties and restart the broker'
    ELSE '' END) AS reason
FROM judged
