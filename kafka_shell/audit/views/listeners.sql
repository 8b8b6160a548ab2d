-- The listeners, and whether a dynamic config sets the key, which brokers read when they start.
SELECT l.*, d.key IS NOT NULL AS dynamic,
  IF(d.key IS NULL, '', ' (dynamic config, not effective until the broker restarts)') AS note,
  concat(IF(d.key IS NULL, '', ', delete the dynamic config'), ' and restart the broker') AS restart
FROM listeners l
LEFT JOIN broker_configs d ON d.cluster = l.cluster AND d.broker_id = l.broker_id
  AND d.key = concat('listener.name.', lower(l.listener), '.{key}') AND d.source LIKE 'dynamic%'
