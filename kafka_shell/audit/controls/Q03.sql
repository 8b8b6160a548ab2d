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
WITH only_scram AS (
  SELECT cluster,
    every(protocol IN ('SASL_SSL', 'SASL_PLAINTEXT')
      AND size(sasl_mechanisms) > 0 AND forall(sasl_mechanisms, m -> m LIKE 'SCRAM%')) AS certain
  FROM listeners WHERE NOT controller GROUP BY cluster
),
supers AS (
  SELECT cluster, explode(split(value, ';')) AS principal
  FROM broker_configs WHERE key = 'super.users'
),
users AS (
  SELECT cluster, user FROM scram_users
  UNION
  SELECT cluster, substr(principal, 6) FROM acls WHERE principal LIKE 'User:%'
  UNION
  SELECT cluster, user FROM client_configs
  UNION
  SELECT cluster, substr(trim(principal), 6) FROM supers WHERE trim(principal) LIKE 'User:%'
),
ids AS (
  SELECT cluster, client_id FROM group_members
  UNION
  SELECT cluster, client_id FROM client_configs WHERE client_id IS NOT NULL
),
judged AS (
  SELECT q.*,
    q.user IS NOT NULL AND users.user IS NULL AS no_user,
    q.client_id IS NOT NULL AND ids.client_id IS NULL AS no_id,
    q.user IS NOT NULL AND users.user IS NULL AND coalesce(only_scram.certain, false) AS bad
  FROM quotas q
  LEFT JOIN users ON users.cluster = q.cluster AND users.user = q.user
  LEFT JOIN ids ON ids.cluster = q.cluster AND ids.client_id = q.client_id
  LEFT JOIN only_scram ON only_scram.cluster = q.cluster
  WHERE q.user IS NOT NULL OR q.client_id IS NOT NULL
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  CASE WHEN bad THEN 'alarm' WHEN no_user OR no_id THEN 'info' ELSE 'ok' END AS status,
  CASE
    WHEN bad THEN 'the user has no credential, and no ACL or client config names it'
    WHEN no_user THEN concat('the user has no SCRAM credential, and no ACL or client config names it;',
      ' it may authenticate in another way')
    WHEN no_id THEN 'no group member or client config has this client ID'
    ELSE 'known'
  END AS reason,
  entity, key, value
FROM judged
