-- id: S05
-- title: Everyone may write or alter
-- severity: high
-- tags: access
-- description: User:* is everyone, including unauthenticated clients on a listener without
--   authentication. Delete, AlterConfigs and Create change topics as well, and ClusterAction is for
--   brokers.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- needs: acls
-- remedy: dynamic, disruptive
WITH judged AS (
  SELECT *, permission = 'allow' AND principal = 'User:*'
    AND operation IN ('Write', 'Alter', 'All', 'Delete', 'AlterConfigs', 'ClusterAction', 'Create')
    AS bad
  FROM acls
)
SELECT
  cluster,
  acl AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN bad THEN concat('everyone may ', operation)
    WHEN permission = 'allow' AND principal = 'User:*' THEN concat('everyone may only ', operation)
    WHEN principal = 'User:*' THEN concat('denies ', operation, ' to everyone')
    ELSE 'does not apply to everyone' END AS reason,
  CASE WHEN bad THEN concat('alter-acls --remove=', word) END AS remedy,
  CASE WHEN bad THEN concat('alter-acls --add=', word) END AS undo
FROM judged
