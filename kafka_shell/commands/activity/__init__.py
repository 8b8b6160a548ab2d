"""`top`: what topics, groups and brokers do now."""
