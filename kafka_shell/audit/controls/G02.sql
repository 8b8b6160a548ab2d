-- title: Group is stalled
-- severity: high
-- tags: groups, lag
-- description: The group commits the same offset repeatedly although there are records to read.
--   Often it cannot process a record. A group that had read everything at the first of these
--   commits is not stalled: the records are newer.
-- source: Burrow, Consumer Lag Evaluation Rules, stalled
-- absence: group_commits
-- parameter: commits = 3
SELECT cluster, resource,
  CASE
    WHEN unknown IS NOT NULL THEN unknown
    WHEN lag > 0 AND positions = 1 AND coalesce(lag_then, lag) > 0
      THEN concat('alarm: offset ', furthest, ' in the last ', commits, ' commits, lag ', {number lag})
    ELSE concat('ok: lag ', {number lag})
  END AS reason
FROM {windows} WHERE commits >= {commits}
