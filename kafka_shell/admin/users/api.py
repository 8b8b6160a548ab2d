"""`admin.users`."""

from __future__ import annotations

from kafka_shell.admin.calls import Family, Plans, Reads
from kafka_shell.admin.users import read, scram


class UsersApi(Family):
    """SCRAM credentials (KIP-554; Kafka 2.7, in KRaft mode 3.5).

    Example:

        credential = NewScramCredential("bob", ScramMechanism.SCRAM_SHA_512, Secret("not a secret"))
        assert admin.users.plan_upsert([credential]).apply().ok

        (found,) = admin.users.credentials(["bob"])["bob"]
        assert found.iterations == 4096

        plan = admin.users.plan_delete([("bob", ScramMechanism.SCRAM_SHA_512)])
        assert plan.apply().ok
    """

    credentials = Reads(scram.describe)
    describe = Reads(read.describe)
    plan_upsert = Plans(scram.plan_upsert)
    plan_delete = Plans(scram.plan_delete)
