-- title: Uneven load on brokers
-- severity: medium
-- tags: balance
-- description: The broker has more replicas, leaders or bytes than the average broker. Small
--   amounts are ignored. Where the preferred leaders are even, there is no remedy: T10 elects them.
-- source: Apache Kafka documentation, Balancing leadership
-- absence: replicas, brokers, disk_replicas
-- fix: load measure = mean if measure <> 'leaders' OR preferred > {times} * mean
-- parameter: times = 1.1
-- parameter: fewest_replicas = 100
-- parameter: fewest_bytes = 10737418240
WITH held AS (
  SELECT cluster, broker_id, count(*) AS replicas, count_if(leader) AS leaders,
    count_if(position = 0) AS preferred
  FROM replicas GROUP BY cluster, broker_id
),
measures AS (
  SELECT b.cluster, b.broker_id, {fewest_replicas} AS fewest,
    stack(2, 'replicas', coalesce(replicas, 0), 'leaders', coalesce(leaders, 0))
      AS (measure, amount), coalesce(preferred, 0) AS preferred
  FROM brokers b LEFT JOIN held USING (cluster, broker_id)
  UNION ALL
  SELECT b.cluster, b.broker_id, {fewest_bytes}, 'bytes', coalesce(sum(d.size), 0), 0
  FROM brokers b LEFT JOIN disk_replicas d USING (cluster, broker_id)
  GROUP BY b.cluster, b.broker_id
),
means AS (
  SELECT cluster, measure, avg(amount) AS mean, count(*) AS brokers FROM measures GROUP BY cluster, measure
)
SELECT cluster, concat('broker ', broker_id, ' ', measure) AS resource,
  IF(brokers > 1 AND amount >= fewest AND amount > {times} * mean, 'alarm', 'ok') AS status,
  CASE WHEN measure = 'bytes'
    THEN concat({size amount}, ', the average of all brokers is ', {size mean})
    ELSE concat({number amount}, ' ', measure, ', the average of all brokers is ', {number mean})
  END AS reason,
  measure, mean, preferred
FROM measures JOIN means USING (cluster, measure)
