-- title: Quorum is too small or even
-- severity: critical
-- tags: availability
-- description: A quorum of one or two voters tolerates no failure. An even number of voters
--   tolerates no more failures than one voter fewer.
-- source: Apache Kafka documentation, KRaft, Deploying considerations
-- absence: quorum
-- parameter: fewest = 3
SELECT cluster, 'quorum' AS resource, count_if(votes) AS voters,
  IF(voters < {fewest} OR voters % 2 = 0, 'alarm', 'ok') AS status,
  concat(voters, IF(voters = 1, ' voter', ' voters')) AS reason
FROM quorum GROUP BY cluster
