"""A real Apache Kafka cluster on this machine: download, start, share, stop and delete it."""
