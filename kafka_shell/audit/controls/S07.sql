-- id: S07
-- title: Redundant ACL
-- severity: medium
-- tags: access, hygiene
-- description: Another ACL allows or denies the same and more, or a deny rule overrides it.
--   Redundant ACLs are misleading.
-- source: Apache Kafka documentation, Security, Authorization and ACLs (KIP-290)
-- needs: acls
-- remedy: dynamic, safe
WITH covered AS (
  SELECT a.cluster, a.acl, a.word, min(b.acl) AS cover,
    min(CASE WHEN b.permission = 'deny' AND a.permission = 'allow' THEN b.acl END) AS denied
  FROM acls a
  LEFT JOIN acls b
    ON b.cluster = a.cluster AND b.acl <> a.acl AND b.resource_type = a.resource_type
    AND (b.permission = a.permission OR b.permission = 'deny')
    AND b.principal IN (a.principal, 'User:*')
    AND b.host IN (a.host, '*')
    AND (
      b.operation IN (a.operation, 'All')
      OR b.permission = 'allow' AND a.operation = 'Describe'
        AND b.operation IN ('Read', 'Write', 'Delete', 'Alter')
      OR b.permission = 'allow' AND a.operation = 'DescribeConfigs'
        AND b.operation = 'AlterConfigs'
    )
    AND (
      b.resource_name = a.resource_name AND b.pattern_type = a.pattern_type
      OR b.resource_name = '*' AND b.pattern_type = 'literal'
      OR b.pattern_type = 'prefixed' AND startswith(a.resource_name, b.resource_name)
        AND NOT (a.pattern_type = 'literal' AND a.resource_name = '*')
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
