-- id: S10
-- title: SCRAM credential with the minimum number of iterations
-- severity: medium
-- tags: access
-- description: 4096 iterations are the minimum that Kafka accepts. More iterations slow down
--   password guessing. The remedy sets the password again and asks for it.
-- source: Apache Kafka documentation, Security, SCRAM security considerations
-- needs: scram_users
-- parameter: floor = 4096
-- parameter: iterations = 8192
-- remedy: dynamic, irreversible
SELECT
  cluster,
  concat('user ', s.user, ' ', mechanism) AS resource,
  CASE WHEN iterations <= {floor} THEN 'alarm' ELSE 'ok' END AS status,
  concat({number iterations}, ' iterations') AS reason,
  CASE WHEN iterations <= {floor}
    THEN concat('scram-credentials --username=', {word s.user}, ' --add ', mechanism,
      ' --iterations {iterations}') END AS remedy
FROM scram_users s
