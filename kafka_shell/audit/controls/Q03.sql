-- id: Q03
-- title: Quota of an unknown user or client ID
-- severity: medium
-- tags: quotas, hygiene
-- description: No credential or ACL names the user; no group and no dynamic client config names
--   the client ID. Producers and users with certificates are not visible, so an unknown client ID
--   is only reported as info.
-- source: audit catalogue Q03
-- needs: quotas, scram_users, acls, group_members, client_configs
-- absence: scram_users, acls, group_members, client_configs
-- remedy: dynamic, safe
WITH users AS (
  SELECT cluster, user FROM scram_users
  UNION
  SELECT cluster, substr(principal, 6) FROM acls WHERE principal LIKE 'User:%'
  UNION
  SELECT cluster, user FROM client_configs
),
ids AS (
  SELECT cluster, client_id FROM group_members
  UNION
  SELECT cluster, client_id FROM client_configs WHERE client_id IS NOT NULL
),
judged AS (
  SELECT q.*,
    q.user IS NOT NULL AND users.user IS NULL AS no_user,
    q.client_id IS NOT NULL AND ids.client_id IS NULL AS no_id
  FROM quotas q
  LEFT JOIN users ON users.cluster = q.cluster AND users.user = q.user
  LEFT JOIN ids ON ids.cluster = q.cluster AND ids.client_id = q.client_id
  WHERE q.user IS NOT NULL OR q.client_id IS NOT NULL
)
SELECT
  cluster,
  concat(entity, ' ', key) AS resource,
  CASE WHEN no_user THEN 'alarm' WHEN no_id THEN 'info' ELSE 'ok' END AS status,
  CASE
    WHEN no_user THEN 'no credential, ACL or client config names the user'
    WHEN no_id THEN 'no group member or client config has this client ID'
    ELSE 'known'
  END AS reason,
  CASE WHEN no_user THEN concat('alter-quotas ', options, ' --delete-config=', key) END AS remedy,
  CASE WHEN no_user THEN concat('alter-quotas ', options, ' ', key, '=', value) END AS undo
FROM judged
