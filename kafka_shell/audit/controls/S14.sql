-- id: S14
-- title: Outdated TLS versions
-- severity: medium
-- tags: encryption
-- description: SSLv3, TLS 1.0 and TLS 1.1 are insecure or deprecated (RFC 8996).
-- source: Apache Kafka documentation, Broker configs, ssl.enabled.protocols
-- needs: listeners
-- remedy: dynamic, disruptive
WITH judged AS (
  SELECT *, exists(tls_versions, v -> v IN ('SSLv2', 'SSLv3', 'TLSv1', 'TLSv1.1')) AS bad
  FROM listeners WHERE protocol IN ('SSL', 'SASL_SSL')
)
SELECT
  cluster,
  concat('broker ', broker_id, ' ', listener) AS resource,
  CASE WHEN bad THEN 'alarm' WHEN size(tls_versions) = 0 THEN 'skip' ELSE 'ok' END AS status,
  concat('ssl.enabled.protocols is ', IF(size(tls_versions) = 0, 'unknown',
    array_join(tls_versions, ','))) AS reason,
  CASE WHEN bad
    THEN concat('alter-configs --broker-id ', broker_id, ' listener.name.', lower(listener),
      '.ssl.enabled.protocols=TLSv1.2,TLSv1.3') END AS remedy,
  CASE WHEN bad
    THEN concat('alter-configs --broker-id ', broker_id, ' listener.name.', lower(listener),
      '.ssl.enabled.protocols=', array_join(tls_versions, ',')) END AS undo
FROM judged
