-- title: Lag is not decreasing
-- severity: medium
-- tags: groups, lag
-- description: The group is reading, but its lag is as large as at the first of its recent
--   commits, or larger: it is too slow. The lag grows between two commits, so the lags at the
--   first and at the last commit are compared.
-- source: Burrow, Consumer Lag Evaluation Rules, lag
-- absence: group_commits
-- parameter: commits = 3
SELECT cluster, resource,
  CASE
    WHEN unknown IS NOT NULL THEN unknown
    WHEN lag_then IS NULL OR lag_now IS NULL
      THEN 'skip: the end offset at the first or the last commit is unknown'
    ELSE concat(IF(lag_now > 0 AND positions > 1 AND now = furthest AND lag_now >= lag_then, 'alarm',
        'ok'), ': lag ', {number lag_now}, ' at the last of ', commits, ' commits, ',
      {number lag_then}, ' at the first')
  END AS reason
FROM {windows} WHERE commits >= {commits}
