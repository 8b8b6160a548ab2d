-- id: S09
-- title: User without any ACL
-- severity: medium
-- tags: access, hygiene
-- description: The user can authenticate, but no ACL gives it permissions. Super users need none:
--   if the brokers do not return super.users, the user may be one, and no remedy is given. Deletion
--   is irreversible because the password cannot be read back.
-- source: Apache Kafka documentation, Security, SCRAM; audit catalogue S09
-- needs: scram_users, acls, broker_configs
-- absence: acls
-- remedy: dynamic, irreversible
WITH users AS (
  SELECT cluster, user, max(word) AS word,
    array_join(array_sort(collect_list(mechanism)), ',') AS mechanisms
  FROM scram_users GROUP BY cluster, user
),
supers AS (
  SELECT cluster, bool_or(sensitive OR value IS NULL) AS hidden,
    flatten(collect_list(split(value, ';'))) AS principals
  FROM broker_configs WHERE key = 'super.users' GROUP BY cluster
)
SELECT
  u.cluster,
  concat('user ', u.user) AS resource,
  CASE
    WHEN held.principal IS NOT NULL OR array_contains(supers.principals, concat('User:', u.user))
      THEN 'ok'
    ELSE 'alarm'
  END AS status,
  CASE
    WHEN held.principal IS NOT NULL THEN 'ACLs name the user'
    WHEN array_contains(supers.principals, concat('User:', u.user)) THEN 'a super user'
    WHEN supers.hidden
      THEN 'no ACL names the user, and the brokers do not return who is a super user'
    ELSE 'no ACL names the user'
  END AS reason,
  CASE WHEN held.principal IS NULL AND NOT coalesce(supers.hidden, false)
      AND NOT coalesce(array_contains(supers.principals, concat('User:', u.user)), false)
    THEN concat('scram-credentials --username=', u.word, ' --delete ', u.mechanisms)
  END AS remedy,
  NULL AS undo
FROM users u
LEFT JOIN (SELECT DISTINCT cluster, principal FROM acls) held
  ON held.cluster = u.cluster AND held.principal = concat('User:', u.user)
LEFT JOIN supers ON supers.cluster = u.cluster
