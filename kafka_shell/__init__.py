"""kafka.sh: the admin shell for Apache Kafka. See README.md; the core is `kafka_shell.admin`."""

__version__ = "0.1.0"
