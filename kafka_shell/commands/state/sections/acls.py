"""The section of ACLs, by resource pattern."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kafka_shell.admin.acls import read as acl_reads
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclOperation,
    AclResourceType,
    rule_text,
    target_text,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure
from kafka_shell.commands.acls.rules import parse_rule
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import Fields, State
from kafka_shell.commands.state.schema import by_name
from kafka_shell.commands.state.section import (
    Content,
    Loaded,
    Loading,
    Read,
    Section,
    StateRequest,
)
from kafka_shell.wire.cluster import Cluster

_OPERATIONS = {operation.label.lower() for operation in AclOperation}


class Acls(Section):
    """ACLs: resources without fields. A file names their resource patterns."""

    whole = True

    def owner(self, key: AclBinding) -> str:
        return key.target

    def topic(self, key: AclBinding) -> str:
        return key.name if key.resource_type is AclResourceType.TOPIC else ""

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        bindings = sorted(
            acl_reads.describe_each(cluster, [acl_reads.EVERYTHING])[0],
            key=lambda binding: binding.order,
        )
        unknown = [b for b in bindings if AclOperation.UNKNOWN in (b.operation, b.resource_type)]
        for binding in unknown:
            state.unread[str(binding)] = Failure(
                "unknown-code", f"ACL {binding} has an operation or resource type that this version"
                " of kafka.sh does not support",
            )  # fmt: skip
        nameless = [b for b in bindings if not all(b.principal.partition(":"))]
        for binding in nameless:
            message = f"ACL {binding} has a principal without a type or name"
            state.unread[str(binding)] = Failure("bad-principal", message)
        left_out = {*unknown, *nameless}
        return {binding: {} for binding in bindings if binding not in left_out}

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        try:
            target = parse_rule(f"allow User:a Read on {text}").target
        except ShellError as error:
            raise at.error(error.message, error.hint) from None
        assert target is not None
        covered = target_text(target.type, target.name or "", target.pattern)
        loading.state.covered.setdefault(self.name, set()).add(covered)
        for item in place.items(f"ACLs of {text}"):
            line = item.text("an ACL")
            try:
                rule = loading.rules.get(line) or loading.rules.setdefault(line, parse_rule(line))
            except ShellError as error:
                hint = error.hint
                if line.split(" ")[0].lower() in _OPERATIONS:  # [allow User:a Read,Write]
                    hint = "Put a rule that contains commas in quotes."
                raise item.error(error.message, hint) from None
            if rule.target is not None:
                message = f"an ACL below '{text}' must not name a resource"
                raise item.error(message, "Remove 'on ...'.")
            for binding in rule.bindings([target]):
                yield binding, {}, item

    def write(self, resources: Mapping[AclBinding, Fields], lists: Collection[str]) -> Content:
        """The rules of each pattern; one rule for all operations of a principal and host."""
        combined: dict[tuple[Any, ...], tuple[AclBinding, list[str]]] = {}
        for binding in resources:
            side = (binding.target, binding.principal, binding.permission, binding.host)
            combined.setdefault(side, (binding, []))[1].append(binding.operation.label)
        content: Content = {}
        for (target, *_), (first, operations) in combined.items():
            content.setdefault(target, []).append(rule_text(first, operations))
        return content

    def schema(self) -> Content:
        return by_name(
            "ACLs by resource: topic orders, prefixed group payments-, cluster.",
            {
                "type": ["array", "null"],
                "items": {
                    "type": "string",
                    "description": "allow|deny PRINCIPAL OPERATIONS [from HOSTS]",
                    "pattern": "^([Aa][Ll][Ll][Oo][Ww]|[Dd][Ee][Nn][Yy])\\s",
                },
            },
        )
