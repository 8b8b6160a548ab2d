"""Candidates for an ACL's rule, word by word: `allow User:bob Read,Write from 10.0.0.1`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kafka_shell.admin.acls.model import OPERATIONS_OF, AclOperation
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quote_rest
from kafka_shell.commands.acls.rules import RESOURCE_OPTIONS, split_unfinished
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.view.candidates import NONE, Candidates, Catalog, pick

_SPECIAL = re.compile(r"[\s'\"\\]")
_VERBS = {"allow": "allow the operations", "deny": "deny the operations; overrides allow"}


def offer(request: CompletionRequest, known: Catalog) -> Candidates:
    """Candidates for the word being typed in a rule."""
    typed = request.prefix
    if request.part == "permission":
        return pick(_VERBS, typed, tail=" ")
    if request.part == "principal":
        return _principals(typed, known)
    if request.part == "operation":
        return pick(_operations(request.words), typed)
    if request.part == "from":
        return pick({"from": "only from this host"}, typed, tail=" ")
    return NONE


def _principals(typed: str, known: Catalog) -> Candidates:
    """The known principals, as words of a rule: in double quotes, as the rule itself is usually in
    single ones."""
    candidates = pick(known.view.principals.value, split_unfinished(typed)[1].text, tail=" ")
    offered = tuple(replace(each, text=_word(each.text)) for each in candidates.offered)
    return replace(candidates, offered=offered)


def _word(name: str) -> str:
    return '"' + quote_rest(name, '"') + '"' if _SPECIAL.search(name) else name


def _operations(words: Mapping[str, object]) -> Iterable[str]:
    """The operations that apply to the resources named so far, and All."""
    types = [kind for name, kind in RESOURCE_OPTIONS.items() if name in words] or list(
        OPERATIONS_OF
    )
    known = {operation for kind in types for operation in OPERATIONS_OF[kind]}
    return [operation.label for operation in (*sorted(known), AclOperation.ALL)]
