-- title: Quota of an unknown user or client ID
-- severity: medium
-- tags: quotas, hygiene, opinion
-- description: The user has no credential, is not a super user, and no ACL or client config names it;
--   no group and no dynamic client config names the client ID. Users that authenticate in another
--   way than SCRAM are not visible, so an unknown user is then only reported as info. Producers are
--   not visible, so an unknown client ID is only reported as info.
-- source: kafka.sh
-- absence: scram_users, acls, group_members, client_configs, broker_configs, listeners
-- risk: safe
-- fix: quota entity key = delete was value
WITH supers AS (
  SELECT cluster, explode(transform(split(value, ';'), p -> trim(p))) AS principal
  FROM broker_configs WHERE key = 'super.users'
),
users AS (
  SELECT cluster, user, true AS known_user FROM scram_users
  UNION
  SELECT cluster, substr(principal, 6), true FROM acls WHERE principal LIKE 'User:%'
  UNION
  SELECT cluster, user, true FROM client_configs
  UNION
  SELECT cluster, substr(principal, 6), true FROM supers WHERE principal LIKE 'User:%'
),
ids AS (
  SELECT cluster, client_id, true AS known_id FROM group_members
  UNION
  SELECT cluster, client_id, true FROM client_configs
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  CASE
    WHEN user IS NOT NULL AND known_user IS NULL AND only_scram
      THEN 'alarm: the user has no credential, and no ACL or client config names it'
    WHEN user IS NOT NULL AND known_user IS NULL
      THEN concat('info: the user has no SCRAM credential, and no ACL or client config names it;',
        ' it may authenticate in another way')
    WHEN client_id IS NOT NULL AND known_id IS NULL
      THEN 'info: no group member or client config has this client ID'
    ELSE 'ok: known'
  END AS reason,
  entity, key, value
FROM quotas
LEFT JOIN users USING (cluster, user)
LEFT JOIN ids USING (cluster, client_id)
LEFT JOIN {scram_only} USING (cluster)
WHERE user IS NOT NULL OR client_id IS NOT NULL
