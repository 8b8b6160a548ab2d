-- title: Host names are not verified
-- severity: high
-- tags: encryption
-- description: If ssl.endpoint.identification.algorithm is empty, a broker accepts any
--   certificate of the CA from the broker or controller it connects to. Listeners to which only
--   clients connect are not affected. Brokers store a dynamic value, but read it only when they
--   start.
-- source: Apache Kafka documentation, Broker configs, ssl.endpoint.identification.algorithm
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  identification = '' AND (inter_broker OR controller) AS bad,
  dynamic AND (inter_broker OR controller) AS late,
  concat(CASE WHEN bad THEN 'alarm' WHEN late THEN 'skip' ELSE 'ok' END,
    ': ssl.endpoint.identification.algorithm is ', IF(identification = '', 'empty', identification),
    IF(late, note, ''), CASE
      WHEN bad OR late THEN concat('; set it to https in server.properties', restart)
      WHEN identification = '' THEN '; brokers do not connect to this listener' ELSE '' END) AS reason
FROM {listeners ssl.endpoint.identification.algorithm}
WHERE protocol IN ('SSL', 'SASL_SSL')
