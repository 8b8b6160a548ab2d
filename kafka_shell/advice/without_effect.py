"""Whether changes will be without effect: ACLs that never match, users that do not exist, and
passwords that nobody can log in with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kafka_shell.admin.acls.change import CreateAcls
from kafka_shell.admin.acls.model import AclBinding
from kafka_shell.admin.acls.read import doubts
from kafka_shell.admin.client_configs.change import AlterClientConfigs
from kafka_shell.admin.quotas.change import AlterQuotas
from kafka_shell.admin.users.scram import AlterScramCredentials
from kafka_shell.advice.reads import Reads
from kafka_shell.base.plans import Advice


class Facts(Struct, frozen=True):
    """The ACLs that a plan creates, and the users that it is about."""

    acls: Sequence[AclBinding]
    credentials: Sequence[str]  # users that get a password
    others: Sequence[object]  # users that get quotas or client configs; None or a default


def read(reads: Reads) -> Facts:
    """Read nothing: the plan decides."""
    steps = reads.plan.steps
    return Facts(
        [acl for step in steps if isinstance(step, CreateAcls) for acl in step.items],
        [new.user for step in steps if isinstance(step, AlterScramCredentials)
         for new in step.upsertions],
        [change.entity.user for step in steps if isinstance(step, AlterQuotas | AlterClientConfigs)
         for change in step.items],
    )  # fmt: skip


def say(facts: Facts) -> Advice:
    """Say what never applies. It is confirmed if it looks like access."""
    never = [message for acl in facts.acls for message in doubts(acl)]
    prefixed = list(_prefixed(facts.credentials))
    confirm = bool(never or prefixed)
    logins = (
        f"user {user} will not be able to authenticate: SCRAM in Kafka supports ASCII names only"
        for user in facts.credentials
        if not user.isascii()
    )
    warnings = dict.fromkeys((*never, *prefixed, *_prefixed(facts.others), *logins))
    return Advice(warnings=tuple(warnings), confirm=confirm)


def _prefixed(users: Sequence[object]) -> Iterator[str]:
    """Warnings about users that are named as principals. Kafka accepts such names: they are other
    users."""
    for user in users:
        if isinstance(user, str) and user.startswith("User:"):
            yield f"{user} is not the user {user[5:]}: user names do not include 'User:'"
