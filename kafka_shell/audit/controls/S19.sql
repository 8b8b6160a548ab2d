-- title: An ACL denies everyone
-- severity: critical
-- tags: access, availability
-- description: A deny takes precedence over every allow: all clients but super users are shut out
--   of all resources of the type, and of the cluster the brokers as well.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- fix: acl resource
SELECT cluster, acl AS resource,
  IF(permission = 'deny' AND principal = 'User:*' AND host = '*'
      AND (resource_name = '*' AND pattern_type = 'literal' OR resource_type = 'cluster')
      AND operation IN ('All', 'Read', 'Write', 'Describe', 'ClusterAction'),
    concat('alarm: denies ', operation, ' on every ', resource_type, ' to everyone'),
    'ok: does not deny everyone') AS reason
FROM acls
