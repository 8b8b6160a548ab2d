-- title: Quorum is too small or even
-- severity: critical
-- tags: availability
-- description: A quorum of one or two voters tolerates no failure. An even number of voters
--   tolerates no more failures than one voter fewer.
-- source: Apache Kafka documentation, KRaft, Deploying considerations
-- absence: quorum
-- parameter: fewest = 3
WITH voters AS (SELECT cluster, count_if(votes) AS voters FROM quorum GROUP BY cluster)
SELECT cluster, 'quorum' AS resource,
  IF(voters < {fewest} OR voters % 2 = 0, 'alarm', 'ok') AS status,
  concat(voters, CASE WHEN voters = 1 THEN ' voter' ELSE ' voters' END) AS reason
FROM voters
