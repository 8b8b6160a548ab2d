"""The same operations by Kafka's own JVM tools and by this program."""
