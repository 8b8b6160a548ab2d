-- title: SCRAM credential with the minimum number of iterations
-- severity: medium
-- tags: access
-- description: 4096 iterations are the minimum that Kafka accepts. More iterations slow down
--   password guessing. The remedy sets the password again.
-- source: Apache Kafka documentation, Security, SCRAM security considerations
-- parameter: floor = 4096
-- parameter: iterations = 8192
-- fix: password user mechanism = {iterations}
SELECT cluster, concat('user ', s.user, ' ', mechanism) AS resource,
  IF(iterations <= {floor}, 'alarm', 'ok') AS status,
  concat({number iterations}, ' iterations') AS reason,
  user, mechanism
FROM scram_users s
