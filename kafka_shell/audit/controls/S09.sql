-- id: S09
-- title: User without any ACL
-- severity: medium
-- tags: access, hygiene
-- description: The user can authenticate but has no permissions, or is a super user. Deletion is
--   irreversible because the password cannot be read back.
-- source: Apache Kafka documentation, Security, SCRAM; audit catalogue S09
-- needs: scram_users, acls
-- remedy: dynamic, irreversible
WITH users AS (
  SELECT cluster, user, max(word) AS word,
    array_join(array_sort(collect_list(mechanism)), ',') AS mechanisms
  FROM scram_users GROUP BY cluster, user
)
SELECT
  u.cluster,
  concat('user ', u.user) AS resource,
  CASE WHEN held.principal IS NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN held.principal IS NULL THEN 'no ACL names the user'
    ELSE 'ACLs name the user' END AS reason,
  CASE WHEN held.principal IS NULL
    THEN concat('scram-credentials --username=', u.word, ' --delete ', u.mechanisms)
  END AS remedy,
  NULL AS undo
FROM users u
LEFT JOIN (SELECT DISTINCT cluster, principal FROM acls) held
  ON held.cluster = u.cluster AND held.principal = concat('User:', u.user)
