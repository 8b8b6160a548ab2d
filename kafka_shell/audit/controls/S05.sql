-- id: S05
-- title: Everyone may write or alter
-- severity: high
-- tags: access
-- description: User:* is everyone, including unauthenticated clients on a listener without
--   authentication.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- needs: acls
-- remedy: dynamic, disruptive
WITH judged AS (
  SELECT *, permission = 'allow' AND principal = 'User:*'
    AND operation IN ('Write', 'Alter', 'All') AS bad
  FROM acls
)
SELECT
  cluster,
  acl AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN bad THEN concat('everyone may ', operation)
    ELSE 'does not apply to everyone' END AS reason,
  CASE WHEN bad THEN concat('alter-acls --remove=', word) END AS remedy,
  CASE WHEN bad THEN concat('alter-acls --add=', word) END AS undo
FROM judged
