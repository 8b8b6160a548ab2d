-- id: S12
-- title: TLS without authentication
-- severity: high
-- tags: access
-- description: The listener encrypts but does not authenticate clients: no client certificate and
--   no SASL.
-- source: Apache Kafka documentation, Broker configs, ssl.client.auth
-- needs: listeners
-- remedy: dynamic, disruptive
SELECT
  cluster,
  concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN client_auth <> 'required' THEN 'alarm' ELSE 'ok' END AS status,
  concat('ssl.client.auth is ', client_auth) AS reason,
  CASE WHEN client_auth <> 'required'
    THEN concat('alter-configs --broker-id ', broker_id, ' listener.name.', lower(listener),
      '.ssl.client.auth=required') END AS remedy,
  CASE WHEN client_auth <> 'required'
    THEN concat('alter-configs --broker-id ', broker_id, ' --delete-config listener.name.',
      lower(listener), '.ssl.client.auth') END AS undo
FROM listeners
WHERE protocol = 'SSL'
