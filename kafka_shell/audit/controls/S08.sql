-- title: ACL for a missing principal or resource
-- severity: medium
-- tags: access, hygiene
-- description: The topic or group was deleted, or the user has no credentials. Whoever creates
--   the name next gets the permissions. Users that do not authenticate with SCRAM are not
--   visible, so a user without a SCRAM credential is then only reported as info. ACLs that deny
--   also protect resources that are created later, and are not reported. A prefix may be meant for topics that
--   an application is about to create, and a group exists once it is used: both are info only.
-- source: Apache Kafka documentation, Security, Authorization and ACLs
-- absence: topics, groups, scram_users, listeners
-- fix: acl resource
WITH prefixes AS (
  SELECT DISTINCT cluster, acl, true AS some_topic FROM acls JOIN topics USING (cluster)
  WHERE pattern_type = 'prefixed' AND resource_type = 'topic' AND startswith(topic, resource_name)
),
existing AS (
  SELECT cluster, 'topic' AS resource_type, topic AS resource_name, true AS exists FROM topics
  UNION ALL
  SELECT cluster, 'group', group, true FROM groups
),
users AS (
  SELECT DISTINCT cluster, concat('User:', user) AS principal, true AS known FROM scram_users
),
judged AS (
  SELECT *,
    resource_type IN ('topic', 'group') AND pattern_type = 'literal' AND resource_name <> '*'
      AND exists IS NULL AS missing,
    resource_type = 'topic' AND pattern_type = 'prefixed' AND some_topic IS NULL AS unused,
    principal LIKE 'User:%' AND principal <> 'User:*' AND known IS NULL AS nobody
  FROM acls
  LEFT JOIN existing USING (cluster, resource_type, resource_name)
  LEFT JOIN prefixes USING (cluster, acl)
  LEFT JOIN users USING (cluster, principal)
  LEFT JOIN {scram_only} USING (cluster)
  WHERE permission = 'allow'
)
SELECT cluster, acl AS resource,
  CASE
    WHEN missing AND resource_type = 'topic' THEN concat('alarm: topic ', resource_name, ' does not exist')
    WHEN unused AND NOT resource_name RLIKE r'^[a-zA-Z0-9._-]+$'
      THEN concat('alarm: no topic can start with ', resource_name)
    WHEN nobody AND only_scram THEN concat('alarm: ', principal, ' has no SCRAM credential')
    WHEN missing THEN concat('info: group ', resource_name, ' does not exist')
    WHEN unused THEN concat('info: no topic starts with ', resource_name)
    WHEN nobody THEN concat('info: ', principal, ' has no SCRAM credential')
    ELSE 'ok: resource and principal exist'
  END AS reason
FROM judged
