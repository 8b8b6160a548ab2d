-- title: Outdated TLS versions
-- severity: medium
-- tags: encryption
-- description: SSLv3, TLS 1.0 and TLS 1.1 are insecure or deprecated (RFC 8996). Brokers store a
--   dynamic ssl.enabled.protocols, but read it only when they start.
-- source: Apache Kafka documentation, Broker configs, ssl.enabled.protocols
WITH judged AS (
  SELECT l.*, exists(l.tls_versions, v -> v IN ('SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1')) AS bad,
    d.key IS NOT NULL AS dynamic
  FROM listeners l
  LEFT JOIN broker_configs d ON d.cluster = l.cluster AND d.broker_id = l.broker_id
    AND d.key = concat('listener.name.', lower(l.listener), '.ssl.enabled.protocols')
    AND d.source LIKE 'dynamic%'
  WHERE l.protocol IN ('SSL', 'SASL_SSL')
)
SELECT cluster, concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN bad THEN 'alarm' WHEN dynamic OR size(tls_versions) = 0 THEN 'skip' ELSE 'ok'
  END AS status,
  concat('ssl.enabled.protocols is ', IF(size(tls_versions) = 0, 'unknown',
    array_join(tls_versions, ',')), CASE
    WHEN dynamic THEN concat(' (dynamic config, not effective until the broker restarts);',
      ' set it to TLSv1.2,TLSv1.3 in server.properties, delete the dynamic config and restart',
      ' the broker')
    WHEN bad THEN '; set it to TLSv1.2,TLSv1.3 in server.properties and restart the broker'
    ELSE '' END) AS reason
FROM judged
