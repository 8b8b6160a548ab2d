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
WITH only_scram AS (
  SELECT cluster,
    every(protocol IN ('SASL_SSL', 'SASL_PLAINTEXT')
      AND size(sasl_mechanisms) > 0 AND forall(sasl_mechanisms, m -> m LIKE 'SCRAM%')) AS certain
  FROM listeners WHERE NOT controller GROUP BY cluster
),
judged AS (
  SELECT a.cluster, a.acl,
    CASE
      WHEN a.resource_type = 'topic' AND a.pattern_type = 'literal' AND a.resource_name <> '*'
        AND t.topic IS NULL THEN concat('topic ', a.resource_name, ' does not exist')
      WHEN a.resource_type = 'topic' AND a.pattern_type = 'prefixed'
        AND NOT a.resource_name RLIKE r'^[a-zA-Z0-9._-]+$'
        THEN concat('no topic can start with ', a.resource_name)
    END AS gone,
    CASE
      WHEN a.resource_type = 'topic' AND a.pattern_type = 'prefixed' AND p.acl IS NULL
        THEN concat('no topic starts with ', a.resource_name)
      WHEN a.resource_type = 'group' AND a.pattern_type = 'literal' AND a.resource_name <> '*'
        AND g.group IS NULL THEN concat('group ', a.resource_name, ' does not exist')
    END AS unused,
    CASE WHEN a.principal LIKE 'User:%' AND a.principal <> 'User:*' AND u.user IS NULL
      THEN concat(a.principal, ' has no SCRAM credential') END AS nobody,
    coalesce(only_scram.certain, false) AS certain
  FROM acls a
  LEFT JOIN topics t ON t.cluster = a.cluster AND t.topic = a.resource_name
  LEFT JOIN (
    SELECT DISTINCT x.cluster, x.acl FROM acls x
    JOIN topics y ON y.cluster = x.cluster AND startswith(y.topic, x.resource_name)
    WHERE x.pattern_type = 'prefixed' AND x.resource_type = 'topic'
  ) p ON p.cluster = a.cluster AND p.acl = a.acl
  LEFT JOIN groups g ON g.cluster = a.cluster AND g.group = a.resource_name
  LEFT JOIN (SELECT DISTINCT cluster, user FROM scram_users) u
    ON u.cluster = a.cluster AND concat('User:', u.user) = a.principal
  LEFT JOIN only_scram ON only_scram.cluster = a.cluster
  WHERE a.permission = 'allow'
)
SELECT cluster, acl AS resource,
  CASE
    WHEN gone IS NOT NULL OR nobody IS NOT NULL AND certain THEN 'alarm'
    WHEN nobody IS NOT NULL OR unused IS NOT NULL THEN 'info'
    ELSE 'ok'
  END AS status,
  coalesce(gone, CASE WHEN certain THEN nobody END, unused, nobody, 'resource and principal exist') AS reason
FROM judged
