-- title: Heartbeat interval is too long
-- severity: medium
-- tags: clients, groups, opinion
-- description: heartbeat.interval.ms should be at most a third of session.timeout.ms; otherwise
--   one lost heartbeat can remove the member. The default of Kafka is assumed if
--   session.timeout.ms is not set.
-- source: Apache Kafka documentation, Consumer configs, heartbeat.interval.ms
-- absence: effective_client_configs
-- parameter: session = 45000
-- risk: safe
-- fix: client-config entity 'heartbeat.interval.ms' = session DIV 3 was value
WITH sessions AS (
  SELECT cluster, user, client_id, value AS given FROM effective_client_configs
  WHERE key = 'session.timeout.ms'
)
SELECT h.cluster, concat('user ', h.user, coalesce(concat(' client-id ', h.client_id), '')) AS resource,
  try_cast(value AS BIGINT) AS heartbeat, coalesce(given, '{session}') AS timeout,
  try_cast(timeout AS BIGINT) AS session,
  CASE WHEN heartbeat IS NULL OR session IS NULL THEN 'skip'
    WHEN heartbeat * 3 > session THEN 'alarm' ELSE 'ok' END AS status,
  concat('heartbeat.interval.ms is ', {duration value}, IF(heartbeat IS NULL, ' (not a number)', ''),
    ', session.timeout.ms is ', {duration timeout}, IF(session IS NULL, ' (not a number)', ''))
    AS reason,
  entity, value
FROM effective_client_configs h LEFT JOIN sessions s
  ON s.cluster = h.cluster AND s.user = h.user AND s.client_id <=> h.client_id
WHERE key = 'heartbeat.interval.ms'
