"""Activity: what topics, groups and brokers do now, from two samples."""
