-- id: S10
-- title: SCRAM credential with the minimum number of iterations
-- severity: medium
-- tags: access
-- description: 4096 iterations are the minimum that Kafka accepts. More iterations slow down
--   password guessing. The remedy sets the password again.
-- source: Apache Kafka documentation, Security, SCRAM security considerations
-- needs: scram_users
-- parameter: floor = 4096
-- parameter: iterations = 8192
-- fix: password user mechanism = {iterations}
SELECT
  cluster,
  concat('user ', s.user, ' ', mechanism) AS resource,
  CASE WHEN iterations <= {floor} THEN 'alarm' ELSE 'ok' END AS status,
  concat({number iterations}, ' iterations') AS reason,
  user, mechanism
FROM scram_users s
