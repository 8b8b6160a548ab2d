-- title: TLS without authentication
-- severity: high
-- tags: access
-- description: The listener encrypts but does not authenticate clients: no client certificate and
--   no SASL. Brokers store a dynamic ssl.client.auth, but read it only when they start.
-- source: Apache Kafka documentation, Broker configs, ssl.client.auth
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  client_auth <> 'required' AS bad,
  concat(CASE WHEN bad THEN 'alarm' WHEN dynamic THEN 'skip' ELSE 'ok' END, ': ssl.client.auth is ',
    client_auth, note,
    IF(bad OR dynamic, concat('; set it to required in server.properties', restart), '')) AS reason
FROM {listeners ssl.client.auth}
WHERE protocol = 'SSL'
