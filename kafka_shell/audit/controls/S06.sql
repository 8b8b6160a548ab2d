-- title: All operations on all resources
-- severity: high
-- tags: access
-- description: The principal may perform every operation on every resource of this type,
--   including future ones. S05 reports ACLs of everyone.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- fix: acl resource
SELECT cluster, acl AS resource,
  IF(permission = 'allow' AND operation = 'All' AND pattern_type = 'literal' AND resource_name = '*'
      AND principal NOT IN ('User:*', 'User:ANONYMOUS'),
    concat('alarm: ', principal, ' has ALL on every ', resource_type),
    'ok: limited to some operations or resources') AS reason
FROM acls
