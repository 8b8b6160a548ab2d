-- title: Outdated TLS versions
-- severity: medium
-- tags: encryption
-- description: SSLv3, TLS 1.0 and TLS 1.1 are insecure or deprecated (RFC 8996). Brokers store a
--   dynamic ssl.enabled.protocols, but read it only when they start.
-- source: Apache Kafka documentation, Broker configs, ssl.enabled.protocols
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  exists(tls_versions, v -> v IN ('SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1')) AS bad,
  size(tls_versions) = 0 AS unknown,
  concat(CASE WHEN bad THEN 'alarm' WHEN dynamic OR unknown THEN 'skip' ELSE 'ok' END,
    ': ssl.enabled.protocols is ', IF(unknown, 'unknown', array_join(tls_versions, ',')), note,
    IF(bad OR dynamic, concat('; set it to TLSv1.2,TLSv1.3 in server.properties', restart), '')) AS reason
FROM {listeners ssl.enabled.protocols}
WHERE protocol IN ('SSL', 'SASL_SSL')
