"""`describe-broker`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Results
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Short

if TYPE_CHECKING:
    from kafka_shell.admin.cluster.model import BrokerDescription
    from kafka_shell.context import Context


def describe_broker(
    invocation: Invocation, context: Context
) -> Results[Resource, BrokerDescription]:
    """The selected brokers, including fenced, absent and unresponsive ones."""
    from kafka_shell.admin.cluster import read as brokers
    from kafka_shell.admin.cluster.read import brokers as known_brokers
    from kafka_shell.base.results import Failure

    known = known_brokers(context.cluster)
    chosen = select.brokers_among(invocation, known.by_id)
    found = brokers.describe(known, map(int, chosen))
    failures: dict[Resource, Failure] = {
        Resource(what, f"of broker {each.broker.id}"): failure
        for each in found
        for what, failure in each.not_read
    }
    return Results({Resource("broker", str(each.broker.id)): each for each in found}, failures)


COMMANDS = (
    Command(
        name="describe-broker",
        summary="Show brokers: state, replicas, log directories, non-default configs.",
        family="cluster",
        run=describe_broker,
        arguments=(
            Argument("broker-id", kinds.BROKER, "Brokers: 1  1,2  '*'", many=True,
                     option="--broker-id"),
        ),
        shorts=(Short("broker", "describe-broker"),),
        search=("node", "rack", "disk", "leaders"),
        description=(
            "Includes brokers that are fenced, do not respond, or have replicas but are not"
            " registered. cluster-metadata lists all brokers."
        ),
        examples=(
            Example("describe-broker 1", "describe broker 1"),
        ),
        apis=(32, 35, 55, 60),
    ),
)  # fmt: skip
