-- title: User without any ACL
-- severity: medium
-- tags: access, hygiene
-- description: The user can authenticate, but no ACL gives it permissions. If super.users
--   cannot be read, the user may be a super user, so no remedy is given. If ACLs of User:* or
--   allow.everyone.if.no.acl.found apply, this is reported as info. Deletion is irreversible because the password cannot be read back.
-- source: Apache Kafka documentation, Security, SCRAM
-- absence: acls, broker_configs
-- fix: user name credentials[] = delete if NOT hidden
WITH users AS (
  SELECT cluster, user,
    sort_array(collect_list(struct(mechanism AS key, iterations AS value))) AS credentials
  FROM scram_users GROUP BY cluster, user
),
supers AS (
  SELECT cluster, bool_or(sensitive OR value IS NULL) AS hidden,
    flatten(collect_list(transform(split(value, ';'), p -> trim(p)))) AS principals
  FROM broker_configs WHERE key = 'super.users' GROUP BY cluster
),
opened AS (
  SELECT cluster, max(reason) AS reason FROM (
    SELECT cluster, 'ACLs of User:* apply' AS reason FROM acls
    WHERE permission = 'allow' AND principal = 'User:*'
    UNION ALL
    SELECT cluster, 'allow.everyone.if.no.acl.found is set' FROM broker_configs
    WHERE key = 'allow.everyone.if.no.acl.found' AND coalesce(trim(value), '') <> 'false'
  ) GROUP BY cluster
),
judged AS (
  SELECT u.*, held.principal IS NOT NULL AS named, opened.reason AS opened,
    coalesce(supers.hidden, false) AS hidden,
    coalesce(array_contains(supers.principals, concat('User:', u.user)), false) AS super
  FROM users u
  LEFT JOIN (SELECT DISTINCT cluster, principal FROM acls) held
    ON held.cluster = u.cluster AND held.principal = concat('User:', u.user)
  LEFT JOIN supers ON supers.cluster = u.cluster
  LEFT JOIN opened ON opened.cluster = u.cluster
)
SELECT cluster, concat('user ', j.user) AS resource,
  CASE WHEN named OR super THEN 'ok' WHEN opened IS NOT NULL THEN 'info' ELSE 'alarm'
  END AS status,
  CASE
    WHEN named THEN 'ACLs name the user'
    WHEN super THEN 'a super user'
    WHEN opened IS NOT NULL THEN concat('no ACL names the user, but ', opened)
    WHEN hidden THEN 'no ACL names the user, and the brokers do not return who is a super user'
    ELSE 'no ACL names the user'
  END AS reason,
  j.user AS name, credentials, hidden
FROM judged j
