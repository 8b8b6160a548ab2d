-- title: Everyone may write or alter
-- severity: high
-- tags: access
-- description: User:* is everyone, and User:ANONYMOUS every client of a listener without
--   authentication. Delete, AlterConfigs and Create change topics as well, and ClusterAction is for
--   brokers.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- fix: acl resource
WITH judged AS (
  SELECT *, principal IN ('User:*', 'User:ANONYMOUS') AS everyone,
    IF(principal = 'User:*', 'everyone', 'unauthenticated clients') AS who, permission = 'allow'
    AND operation IN ('Write', 'Alter', 'All', 'Delete', 'AlterConfigs', 'ClusterAction', 'Create')
    AND principal IN ('User:*', 'User:ANONYMOUS') AS bad
  FROM acls
)
SELECT cluster, acl AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  CASE WHEN bad THEN concat(who, ' may ', operation)
    WHEN NOT everyone THEN 'does not apply to everyone'
    WHEN permission = 'allow' THEN concat(who, ' may only ', operation)
    ELSE concat('denies ', operation, ' to ', who) END AS reason
FROM judged
