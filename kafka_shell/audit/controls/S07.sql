-- id: S07
-- title: Redundant ACL
-- severity: medium
-- tags: access, hygiene
-- description: Another ACL allows or denies the same and more, or a deny rule overrides it.
--   Redundant ACLs are misleading.
-- source: Apache Kafka documentation, Security, Authorization and ACLs (KIP-290)
-- needs: acls
-- remedy: dynamic, safe
WITH
-- each ACL looks for the patterns that could cover it: its own, every name, and existing prefixes
lengths AS (
  SELECT cluster, resource_type, collect_set(length(resource_name)) AS lengths FROM acls
  WHERE pattern_type = 'prefixed' GROUP BY cluster, resource_type
),
patterns AS (
  SELECT a.*, explode(array_union(
    array(struct(pattern_type AS pattern, resource_name AS name), struct('literal' AS pattern, '*' AS name)),
    IF(pattern_type = 'literal' AND resource_name = '*', array(), transform(
      filter(coalesce(l.lengths, array()), n -> n <= length(resource_name)),
      n -> struct('prefixed' AS pattern, substr(resource_name, 1, n) AS name))))) AS wider
  FROM acls a LEFT JOIN lengths l ON l.cluster = a.cluster AND l.resource_type = a.resource_type
),
wanted AS (
  SELECT *, explode(array_distinct(array(principal, 'User:*'))) AS wider_principal FROM patterns
),
covered AS (
  SELECT a.cluster, a.acl, a.word, min(b.acl) AS cover,
    min(CASE WHEN b.permission = 'deny' AND a.permission = 'allow' THEN b.acl END) AS denied
  FROM wanted a
  LEFT JOIN acls b
    ON b.cluster = a.cluster AND b.resource_type = a.resource_type
    AND b.pattern_type = a.wider.pattern AND b.resource_name = a.wider.name
    AND b.principal = a.wider_principal AND b.acl <> a.acl
    AND (b.permission = a.permission OR b.permission = 'deny')
    AND b.host IN (a.host, '*')
    AND (
      b.operation IN (a.operation, 'All')
      OR b.permission = 'allow' AND a.operation = 'Describe'
        AND b.operation IN ('Read', 'Write', 'Delete', 'Alter')
      OR b.permission = 'allow' AND a.operation = 'DescribeConfigs'
        AND b.operation = 'AlterConfigs'
    )
  GROUP BY a.cluster, a.acl, a.word
)
SELECT
  cluster,
  acl AS resource,
  CASE WHEN cover IS NOT NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE
    WHEN denied IS NOT NULL THEN concat('overridden by: ', denied)
    WHEN cover IS NOT NULL THEN concat('covered by: ', cover)
    ELSE 'needed'
  END AS reason,
  CASE WHEN cover IS NOT NULL THEN concat('alter-acls --remove=', word) END AS remedy,
  CASE WHEN cover IS NOT NULL THEN concat('alter-acls --add=', word) END AS undo
FROM covered
