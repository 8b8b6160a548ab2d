-- id: S13
-- title: Host names are not verified
-- severity: high
-- tags: encryption
-- description: If ssl.endpoint.identification.algorithm is empty, a broker accepts any
--   certificate of the CA from the broker it connects to.
-- source: Apache Kafka documentation, Broker configs, ssl.endpoint.identification.algorithm
-- needs: listeners
-- remedy: dynamic, disruptive
SELECT
  cluster,
  concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN identification = '' THEN 'alarm' ELSE 'ok' END AS status,
  concat('ssl.endpoint.identification.algorithm is ',
    CASE WHEN identification = '' THEN 'empty' ELSE identification END) AS reason,
  CASE WHEN identification = ''
    THEN concat('alter-configs --broker-id ', broker_id, ' listener.name.', lower(listener),
      '.ssl.endpoint.identification.algorithm=https') END AS remedy,
  CASE WHEN identification = ''
    THEN concat('alter-configs --broker-id ', broker_id, ' listener.name.', lower(listener),
      '.ssl.endpoint.identification.algorithm=') END AS undo
FROM listeners
WHERE protocol IN ('SSL', 'SASL_SSL')
