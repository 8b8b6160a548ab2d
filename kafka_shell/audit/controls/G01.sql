-- title: Group has stopped committing
-- severity: high
-- tags: groups, lag
-- description: There are records to read, and more time has passed since the last commit than
--   between the first and the last of the recent commits, and more than a minute. A group without
--   members may be a batch job between two runs, and is only reported as info.
-- source: Burrow, Consumer Lag Evaluation Rules, stopped
-- absence: groups, group_commits
-- parameter: commits = 3
-- parameter: quiet_ms = 60000
SELECT cluster, resource,
  CASE
    WHEN unknown IS NOT NULL THEN unknown
    ELSE concat(CASE WHEN lag = 0 OR age <= greatest(span, {quiet_ms}) THEN 'ok'
        WHEN members = 0 THEN 'info' ELSE 'alarm' END, ': lag ', {number lag}, '; the last of ',
      commits, ' commits was made ', {age age}, ' ago, the commits cover ', {age span})
  END AS reason
FROM {windows} LEFT JOIN groups USING (cluster, group)
WHERE commits >= {commits}
