-- title: Session timeout outside the limits of the brokers
-- severity: medium
-- tags: clients, groups, opinion
-- description: A consumer whose session.timeout.ms is outside the limits of the brokers cannot
--   join its group.
-- source: Apache Kafka documentation, Broker configs, group.min.session.timeout.ms and
--   group.max.session.timeout.ms
-- risk: safe
-- fix: client-config entity 'session.timeout.ms' = least(high, greatest(low, ms)) was value
WITH bounds AS (
  SELECT cluster,
    max(CASE WHEN key = 'group.min.session.timeout.ms' THEN try_cast(value AS BIGINT) END) AS low,
    min(CASE WHEN key = 'group.max.session.timeout.ms' THEN try_cast(value AS BIGINT) END) AS high
  FROM broker_configs GROUP BY cluster
)
SELECT cluster, concat('user ', user, coalesce(concat(' client-id ', client_id), '')) AS resource,
  try_cast(value AS BIGINT) AS ms,
  CASE WHEN ms IS NULL THEN 'skip' WHEN NOT ms BETWEEN low AND high THEN 'alarm' ELSE 'ok' END AS status,
  concat('session.timeout.ms is ', {duration value}, IF(ms IS NULL, ' (not a number)', ''),
    ', brokers accept ', {duration low}, ' to ', {duration high}) AS reason,
  entity, value, low, high
FROM effective_client_configs JOIN bounds USING (cluster)
WHERE key = 'session.timeout.ms'
