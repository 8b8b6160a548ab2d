-- title: Too few threads
-- severity: low
-- tags: performance, opinion
-- description: Brokers have fewer threads than the defaults of Kafka, or a single replica
--   fetcher, so requests wait while CPUs and disks are idle. One change can at most double the
--   number of threads. There is no remedy where the default of all brokers would change nothing,
--   or would lower the value of a broker.
-- source: Apache Kafka documentation, Broker configs, num.io.threads, num.network.threads,
--   num.replica.fetchers; Updating thread configs
-- parameter: io = 8
-- parameter: network = 3
-- parameter: fetchers = 2
-- risk: safe
-- fix: broker-default '' key = least(floor, threads * 2) was before if fixable
WITH threads AS (
  SELECT cluster, key, min(try_cast(value AS INT)) AS threads, max(cluster_default) AS before,
    min(CASE WHEN source <> 'dynamic_broker' THEN try_cast(value AS INT) END) AS inherited,
    max(CASE WHEN source <> 'dynamic_broker' THEN try_cast(value AS INT) END) AS most_inherited,
    CASE key WHEN 'num.io.threads' THEN {io} WHEN 'num.network.threads' THEN {network}
      ELSE {fetchers} END AS floor
  FROM broker_configs
  WHERE key IN ('num.io.threads', 'num.network.threads', 'num.replica.fetchers')
  GROUP BY cluster, key
)
SELECT cluster, key AS resource,
  IF(threads < floor, 'alarm', 'ok') AS status,
  concat(key, ' is ', threads, IF(threads < floor, concat(', less than ', floor), '')) AS reason,
  key, floor, threads, before,
  threads < floor AND inherited = threads AND most_inherited <= least(floor, threads * 2) AS fixable
FROM threads
