-- title: Unauthenticated clients are super users
-- severity: critical
-- tags: access
-- description: super.users contains User:ANONYMOUS, which is every client of a listener without
--   authentication. Brokers do not return values of configs they do not define.
-- source: Apache Kafka documentation, Security, super.users
SELECT cluster, concat('broker ', broker_id) AS resource,
  max(IF(key = 'super.users', value, NULL)) AS given,
  CASE WHEN given IS NOT NULL
    THEN concat(IF(array_contains(transform(split(given, ';'), p -> trim(p)), 'User:ANONYMOUS'),
      'alarm', 'ok'), ': super.users is ', given)
    WHEN count_if(key = 'super.users') > 0
      THEN 'info: super.users is set, but brokers do not return its value: check the properties file'
    ELSE 'ok: super.users is not set' END AS reason
FROM broker_configs GROUP BY cluster, broker_id
