-- title: Group was rewound and has not recovered
-- severity: medium
-- tags: groups, lag
-- description: The group went back to an earlier offset and has not reached its previous
--   position: it is reading records again.
-- source: Burrow, Consumer Lag Evaluation Rules, rewind
-- absence: group_commits
-- parameter: commits = 2
SELECT cluster, resource,
  IF(now < furthest, concat('alarm: at offset ', now, ', previously at ', furthest),
    concat('ok: at offset ', now)) AS reason
FROM {windows} WHERE commits >= {commits}
