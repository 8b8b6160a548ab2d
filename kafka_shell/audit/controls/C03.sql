-- id: C03
-- title: Heartbeat interval is too long
-- severity: medium
-- tags: clients, groups
-- description: heartbeat.interval.ms should be at most a third of session.timeout.ms; otherwise
--   one lost heartbeat can remove the member. The default of Kafka is assumed if
--   session.timeout.ms is not set.
-- source: Apache Kafka documentation, Consumer configs, heartbeat.interval.ms
-- needs: effective_client_configs
-- absence: effective_client_configs
-- parameter: session = 45000
-- remedy: dynamic, safe
WITH judged AS (
  SELECT h.*, coalesce(try_cast(s.value AS BIGINT), {session}) AS session
  FROM effective_client_configs h
  LEFT JOIN effective_client_configs s
    ON s.cluster = h.cluster AND s.user = h.user AND s.client_id <=> h.client_id
    AND s.key = 'session.timeout.ms'
  WHERE h.key = 'heartbeat.interval.ms'
)
SELECT
  cluster,
  concat('user ', j.user, coalesce(concat(' client-id ', client_id), '')) AS resource,
  CASE WHEN try_cast(value AS BIGINT) * 3 > session THEN 'alarm' ELSE 'ok' END AS status,
  concat('heartbeat.interval.ms is ', {duration value}, ', session.timeout.ms is ',
    {duration session}) AS reason,
  CASE WHEN try_cast(value AS BIGINT) * 3 > session
    THEN concat('alter-client-configs ', options, ' heartbeat.interval.ms=', session DIV 3)
  END AS remedy,
  CASE WHEN try_cast(value AS BIGINT) * 3 > session
    THEN concat('alter-client-configs ', options, ' --add-config=', pair) END AS undo
FROM judged j
