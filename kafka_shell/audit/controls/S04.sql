-- title: Unauthenticated clients are super users
-- severity: critical
-- tags: access
-- description: super.users contains User:ANONYMOUS, which is every client of a listener without
--   authentication. Brokers do not return values of configs they do not define.
-- source: Apache Kafka documentation, Security, super.users
SELECT b.cluster, concat('broker ', b.broker_id) AS resource,
  CASE
    WHEN supers.key IS NULL THEN 'ok'
    WHEN supers.sensitive OR supers.value IS NULL THEN 'info'
    WHEN array_contains(transform(split(supers.value, ';'), p -> trim(p)), 'User:ANONYMOUS')
      THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN supers.key IS NULL THEN 'super.users is not set'
    WHEN supers.sensitive OR supers.value IS NULL
      THEN 'super.users is set, but brokers do not return its value: check the properties file'
    ELSE concat('super.users is ', supers.value)
  END AS reason
FROM brokers b
LEFT SEMI JOIN broker_configs read ON read.cluster = b.cluster AND read.broker_id = b.broker_id
LEFT JOIN broker_configs supers
  ON supers.cluster = b.cluster AND supers.broker_id = b.broker_id AND supers.key = 'super.users'
