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
WITH judged AS (
  SELECT h.*, try_cast(h.value AS BIGINT) AS heartbeat, coalesce(s.value, '{session}') AS timeout,
    try_cast(coalesce(s.value, '{session}') AS BIGINT) AS session
  FROM effective_client_configs h
  LEFT JOIN effective_client_configs s
    ON s.cluster = h.cluster AND s.user = h.user AND s.client_id <=> h.client_id
    AND s.key = 'session.timeout.ms'
  WHERE h.key = 'heartbeat.interval.ms'
)
SELECT cluster, concat('user ', j.user, coalesce(concat(' client-id ', client_id), '')) AS resource,
  CASE
    WHEN heartbeat IS NULL OR session IS NULL THEN 'skip'
    WHEN heartbeat * 3 > session THEN 'alarm'
    ELSE 'ok'
  END AS status,
  concat('heartbeat.interval.ms is ', {duration value}, IF(heartbeat IS NULL, ' (not a number)', ''),
    ', session.timeout.ms is ', {duration timeout}, IF(session IS NULL, ' (not a number)', ''))
    AS reason,
  entity, value, session
FROM judged j
