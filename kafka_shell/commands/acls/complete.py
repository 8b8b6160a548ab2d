"""Candidates for an ACL's rule, word by word: `allow User:bob Read,Write from 10.0.0.1`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_shell.admin.acls.model import OPERATIONS_OF, AclOperation, AclResourceType
from kafka_shell.language.cursor import Wanted
from kafka_shell.view.candidates import NONE, Candidates, pick, same_about
from kafka_shell.view.view import ClusterView

# A name in the line's words -> the type of resource that it names.
_NAMED = {
    "topic": AclResourceType.TOPIC,
    "group": AclResourceType.GROUP,
    "cluster": AclResourceType.CLUSTER,
    "transactional-id": AclResourceType.TRANSACTIONAL_ID,
    "delegation-token": AclResourceType.DELEGATION_TOKEN,
    "user-principal": AclResourceType.USER,
}
_VERBS = {"allow": "allow the operations", "deny": "deny the operations; overrides allow"}


def of_rule(found: Wanted, view: ClusterView) -> Candidates:
    """Candidates for the word being typed in a rule."""
    typed = found.prefix
    if found.part == "permission":
        return pick(_VERBS, typed, lambda verb: (_VERBS[verb], ""), " ")
    if found.part == "principal":
        return pick(view.principals.value, typed, lambda name: ("", ""), " ")
    if found.part == "operation":
        return same_about(_operations(found.words), typed)
    if found.part == "from":
        return pick(["from"], typed, lambda word: ("only from this host", ""), " ")
    return NONE


def _operations(words: Mapping[str, object]) -> Iterable[str]:
    """The operations that apply to the resources named so far, and All."""
    types = [kind for name, kind in _NAMED.items() if name in words] or list(OPERATIONS_OF)
    known = {operation for kind in types for operation in OPERATIONS_OF[kind]}
    return [operation.label for operation in (*sorted(known), AclOperation.ALL)]
