-- title: Everyone may write or alter
-- severity: high
-- tags: access
-- description: User:* is everyone, and User:ANONYMOUS every client of a listener without
--   authentication. Delete, AlterConfigs and Create change topics as well, and ClusterAction is for
--   brokers.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- fix: acl resource
SELECT cluster, acl AS resource, principal IN ('User:*', 'User:ANONYMOUS') AS everyone,
  IF(principal = 'User:*', 'everyone', 'unauthenticated clients') AS who,
  CASE WHEN NOT everyone THEN 'ok: does not apply to everyone'
    WHEN permission <> 'allow' THEN concat('ok: denies ', operation, ' to ', who)
    WHEN operation IN ('Write', 'Alter', 'All', 'Delete', 'AlterConfigs', 'ClusterAction', 'Create')
      THEN concat('alarm: ', who, ' may ', operation)
    ELSE concat('ok: ', who, ' may only ', operation) END AS reason
FROM acls
