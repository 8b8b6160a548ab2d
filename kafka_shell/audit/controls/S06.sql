-- title: All operations on all resources
-- severity: high
-- tags: access
-- description: The principal may perform every operation on every resource of this type,
--   including future ones. S05 reports ACLs of everyone.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- fix: acl resource
WITH judged AS (
  SELECT *, permission = 'allow' AND operation = 'All' AND pattern_type = 'literal'
    AND resource_name = '*' AND principal NOT IN ('User:*', 'User:ANONYMOUS') AS bad
  FROM acls
)
SELECT cluster, acl AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  CASE WHEN bad THEN concat(principal, ' has ALL on every ', resource_type)
    ELSE 'limited to some operations or resources' END AS reason
FROM judged
