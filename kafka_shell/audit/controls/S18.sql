-- title: An ordinary principal may alter the cluster
-- severity: high
-- tags: access
-- description: ALTER on the cluster is the permission to create ACLs, and so to get every other one;
--   ALTER_CONFIGS changes the configs of brokers. Administrators and the principals of brokers are
--   named by the parameter.
-- source: Apache Kafka documentation, Security, Authorization and ACLs, operations and resources
-- parameter: admins = User:(.*[-_.])?(admin|broker|kafka|controller)s?([-_.0-9].*)?
-- fix: acl resource
SELECT cluster, acl AS resource,
  IF(permission = 'allow' AND operation IN ('Alter', 'AlterConfigs', 'All')
    AND principal NOT IN ('User:*', 'User:ANONYMOUS') AND NOT principal RLIKE r'^({admins})$', 'alarm',
    'ok') AS status,
  concat(principal, ' has ', permission, ' ', operation, ' on the cluster') AS reason
FROM acls WHERE resource_type = 'cluster'
