-- title: Redundant ACL
-- severity: medium
-- tags: access, hygiene
-- description: Another ACL allows or denies the same and more, or a deny rule overrides it.
--   Redundant ACLs are misleading.
-- source: Apache Kafka documentation, Security, Authorization and ACLs (KIP-290)
-- risk: safe
-- fix: acl resource
WITH
lengths AS (
  SELECT cluster, resource_type, principal, collect_set(length(resource_name)) AS lengths FROM acls
  WHERE pattern_type = 'prefixed' GROUP BY cluster, resource_type, principal
),
-- the keys of the ACLs that could cover one: of its principal or everyone, with its own pattern,
-- every name, or a prefix that exists, and of its host or all
principals AS (
  SELECT *, explode(array_distinct(array(principal, 'User:*'))) AS who FROM acls
),
wanted AS (
  SELECT a.cluster, a.acl, a.resource_type, a.permission, a.operation, who, pattern, at
  FROM principals a LEFT JOIN lengths l
    ON l.cluster = a.cluster AND l.resource_type = a.resource_type AND l.principal = a.who
  LATERAL VIEW explode(array_union(
    array(concat(pattern_type, ' ', resource_name), 'literal *'),
    IF(pattern_type = 'literal' AND resource_name = '*', array(), transform(
      filter(coalesce(l.lengths, array()), n -> n <= length(resource_name)),
      n -> concat('prefixed ', substr(resource_name, 1, n)))))) AS pattern
  LATERAL VIEW explode(array_distinct(array(host, '*'))) AS at
),
covered AS (
  SELECT a.cluster, a.acl, min(b.acl) AS cover,
    min(CASE WHEN b.permission = 'deny' AND a.permission = 'allow' THEN b.acl END) AS denied
  FROM wanted a LEFT JOIN acls b
    ON b.cluster = a.cluster AND b.resource_type = a.resource_type
    AND concat(b.pattern_type, ' ', b.resource_name) = a.pattern
    AND b.principal = a.who AND b.host = a.at AND b.acl <> a.acl
    AND b.permission IN (a.permission, 'deny')
    AND (
      b.operation IN (a.operation, 'All')
      OR b.permission = 'allow' AND a.operation = 'Describe'
        AND b.operation IN ('Read', 'Write', 'Delete', 'Alter')
      OR b.permission = 'allow' AND a.operation = 'DescribeConfigs'
        AND b.operation = 'AlterConfigs'
    )
  GROUP BY a.cluster, a.acl
)
SELECT cluster, acl AS resource,
  IF(cover IS NOT NULL, 'alarm', 'ok') AS status,
  CASE
    WHEN denied IS NOT NULL THEN concat('overridden by: ', denied)
    WHEN cover IS NOT NULL THEN concat('covered by: ', cover)
    ELSE 'needed'
  END AS reason
FROM covered
