"""The planner: where the replicas of a cluster should be. Pure: models in, an assignment out.

Hard goals always hold: the replication factor; at most one replica of a partition per broker; new
replicas only on target brokers; racks never worse than before, and as good as possible; and no more
bytes copied to a broker than fit on its disks.

Soft goals, most important first. Each compares the brokers that may receive replicas; its score is
the sum of the squared distances from an even share, so 0 is best:

    topic-replicas   replicas of each topic per broker; an even share, rounded up or down
    topic-leaders    preferred leaders of each topic per broker; likewise
    leaders          preferred leaders per broker; likewise
    writes           if measured: bytes written to the leaders per broker; within 5% of the mean
    bytes            bytes per broker; within 5% of the mean
    replicas         replicas per broker; within 5% of the mean, or rounded up or down

No change for a goal makes a more important one worse. Among equal changes, the one that copies less
is made; what copying data for a goal gains must be at least `min_gain` of its score.
"""
