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
  SELECT cluster, user, concat('User:', user) AS principal,
    sort_array(collect_list(struct(mechanism AS key, iterations AS value))) AS credentials
  FROM scram_users GROUP BY cluster, user
),
supers AS (
  SELECT cluster, bool_or(sensitive OR value IS NULL) AS hidden,
    flatten(collect_list(transform(split(value, ';'), p -> trim(p)))) AS principals
  FROM broker_configs WHERE key = 'super.users' GROUP BY cluster
),
opened AS (
  SELECT cluster, max(reason) AS opened FROM (
    SELECT cluster, 'ACLs of User:* apply' AS reason FROM acls
    WHERE permission = 'allow' AND principal = 'User:*'
    UNION ALL
    SELECT cluster, 'allow.everyone.if.no.acl.found is set' FROM broker_configs
    WHERE key = 'allow.everyone.if.no.acl.found' AND coalesce(trim(value), '') <> 'false'
  ) GROUP BY cluster
),
held AS (SELECT DISTINCT cluster, principal, true AS named FROM acls)
SELECT cluster, concat('user ', u.user) AS resource,
  CASE
    WHEN named THEN 'ok: ACLs name the user'
    WHEN array_contains(principals, principal) THEN 'ok: a super user'
    WHEN opened IS NOT NULL THEN concat('info: no ACL names the user, but ', opened)
    WHEN hidden THEN 'alarm: no ACL names the user, and the brokers do not return who is a super user'
    ELSE 'alarm: no ACL names the user'
  END AS reason,
  u.user AS name, credentials, coalesce(hidden, false) AS hidden
FROM users u
LEFT JOIN held USING (cluster, principal)
LEFT JOIN supers USING (cluster)
LEFT JOIN opened USING (cluster)
