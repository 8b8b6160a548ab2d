"""Remedies of controls: what they change, from the SQL of `fix` to the changes themselves.

    fix: CONFIG = VALUE                                  a config of the topic
    fix: KIND NAME FIELD = VALUE [was BEFORE] [if CONDITION]
    fix: KIND NAME = VALUE [was BEFORE] [if CONDITION]
    fix: KIND NAME                                       what exists is removed

NAME, FIELD, VALUE, BEFORE and CONDITION are SQL of the selected columns. The VALUE `delete` deletes
the field; null is no remedy. `FIELD[]` is an array of fields with their values before:
struct(key, value). If all topics that inherit a value of a CONFIG are alarms, they are one finding:
of the default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from kafka_shell.admin.acls.authorizer import ANYONE, Rules
from kafka_shell.admin.acls.lost_access import losses
from kafka_shell.admin.acls.model import AclBinding, AclPermission, AclResourceType
from kafka_shell.base.plans import Change, Resource, Value
from kafka_shell.base.results import Failure


class _Kind(Struct, frozen=True):
    """A kind of `fix`: the kind of the resource, the verb of the change, and how many of NAME and
    FIELD are before VALUE. `lossy` is whether it destroys what undoing cannot restore; `undo` is
    when it has an inverse: always, if the value before is known, or never."""

    resource: str
    verb: str = "alter"
    words: int = 2
    lossy: bool = False
    undo: str = "never"
    read: Callable[[str], Value] = str


_ALTERED = ("broker", "broker-default", "client-config", "logger", "topic")
_KINDS = {
    **{kind: _Kind(kind, undo="always") for kind in _ALTERED},
    "quota": _Kind("", undo="always", read=float),  # its entity has the kind of the resource
    "feature": _Kind("feature", words=1, lossy=True, undo="known", read=int),
    "group-offsets": _Kind("group-offsets", lossy=True, undo="known", read=int),
    "user": _Kind("user", lossy=True),
    "password": _Kind("user", "set-password", lossy=True),
    "replicas": _Kind("topic", "replicate", words=1, undo="known", read=int),
    "leader": _Kind("partition", "elect", words=1, read=int),
    "racks": _Kind("topic", "move", words=1),
    "load": _Kind("cluster", "balance", words=1),
    "acl": _Kind("acl", "delete", words=0, undo="always"),
    "group": _Kind("group", "delete", words=0, lossy=True),
    "transaction": _Kind("transaction", "abort", words=0, lossy=True),
    "transactional-id": _Kind("transactional-id", "fence", words=0, lossy=True),
}
_FIX = re.compile(
    r"(?P<left>[^=]+?)(\s*=\s*(?P<after>.+?)(\s+was\s+(?P<before>.+?))?(\s+if\s+(?P<condition>.+))?)?"
)

_STATUS = re.compile(r"(?i)\bstatus\b")


def sql_text(value: str) -> str:
    """Quote a string for Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Fix(Struct, frozen=True):
    """What a remedy changes, as SQL of the selected columns. An empty `after` deletes the field.
    Without a `kind` it is the config `field` of the topic."""

    kind: str
    name: str = ""
    field: str = "''"
    after: str = ""
    before: str = "NULL"
    condition: str = "true"

    @property
    def irreversible(self) -> bool:
        """Whether it destroys what undoing cannot restore: so may an election where none led."""
        if self.kind == "leader":
            return self.before == "NULL"
        return bool(self.kind) and _KINDS[self.kind].lossy

    @property
    def changes(self) -> str:
        """The SQL of an array of its changes, or of null."""
        given = (self.name, self.field.removesuffix("[]"), self.after or "''")
        known = " AND ".join(f"({each}) IS NOT NULL" for each in given)
        if self.field.endswith("[]"):
            change = _change(self.kind, self.name, "x.key", "x.value", self.after or "NULL")
            fields = f"filter({self.field[:-2]}, x -> x.key IS NOT NULL)"
            changes = f"transform({fields}, x -> {change})"
        else:
            change = _change(self.kind, self.name, self.field, self.before, self.after or "NULL")
            changes = f"array({change})"
        return f"CASE WHEN ({self.condition}) AND {known} THEN {changes} END"


def parse_fix(text: str) -> Fix:
    """Parse `retention.ms = 3600000`, `quota entity key = delete was value` or `acl resource`.
    Raises ValueError."""
    found = _FIX.fullmatch(text)
    words = found["left"].split() if found else []
    if found is None or not words or (len(words) == 1 and found["after"] is None):
        raise ValueError("fix must be CONFIG = VALUE, KIND NAME FIELD = VALUE or KIND NAME")
    kind = _KINDS.get(words[0])
    if kind is None and len(words) > 1:
        raise ValueError(f"the kind of a fix must be one of {', '.join(sorted(_KINDS))}")
    if kind is not None and len(words) > 1:
        given = len(words) - 1 if found["after"] is not None else 0
        if given != kind.words or len(words) != max(2, kind.words + 1):
            form = ("NAME", "NAME = VALUE", "NAME FIELD = VALUE")[kind.words]
            raise ValueError(f"fix must be {words[0]} {form}")
    after = (found["after"] or "").strip()
    values = {name: found[name] for name in ("before", "condition") if found[name]}
    where = words if len(words) > 1 else ["", "", words[0]]
    values |= zip(("kind", "name", "field"), where, strict=False)
    return Fix(**values, after="" if after == "delete" else after)


def with_changes(sql: str, fixes: Sequence[Fix], *, merged: bool) -> str:
    """The query of a control, with the changes of its remedy as JSON."""
    if not _STATUS.search(sql):  # the reason begins with it
        both = "coalesce(reason, 'skip: a value is unknown')"
        sql = f"""\
SELECT * EXCEPT (reason), substring_index({both}, ': ', 1) AS status,
  substr({both}, instr({both}, ': ') + 2) AS reason
FROM (
{sql}
)"""
    if fixes and not fixes[0].kind:
        return _with_topic_config(sql, fixes[0].field, fixes[0].after, merged=merged)
    changes = f"coalesce({', '.join(each.changes for each in fixes)})" if fixes else ""
    remedy = f"CASE WHEN status = 'alarm' THEN to_json({changes}) END" if fixes else "NULL"
    return f"""\
SELECT cluster, resource, status, reason, CAST({remedy} AS STRING) AS remedy
FROM (
{sql}
)"""


def _change(kind: str, name: str, field: str, before: str, after: str) -> str:
    values = {"name": name, "field": field, "before": before, "after": after}
    texts = ", ".join(f"'{key}', CAST({value} AS STRING)" for key, value in values.items())
    return f"named_struct('kind', '{kind}', {texts})"


def _with_topic_config(sql: str, key: str, value: str, *, merged: bool) -> str:
    """The query of a control whose remedy sets a config of the topic. If all topics that inherit a
    value are alarms, they are one result if `merged`: the default is the cause."""
    name = sql_text(key)
    changed = f"CASE WHEN status = 'alarm' THEN CAST({value} AS STRING) END"
    alone = "NOT by_default OR count(*) = 1"
    change = _change(
        "topic", "resource", name, "IF(overridden, before, NULL)",
        "IF(overridden AND inherited = changed, NULL, changed)",
    )  # fmt: skip
    return f"""\
SELECT cluster, IF({alone}, min(resource), concat('default of ', {name})) AS resource,
  min(status) AS status,
  IF({alone}, min(reason), concat(min(reason), '; inherited by ', {{number count(*)}},
    ' topics, such as ', min(resource))) AS reason,
  IF({alone}, min(remedy), NULL) AS remedy
FROM (
  SELECT cluster, resource, status, reason, by_default, IF(by_default, before, resource) AS subject,
    CASE WHEN changed IS NOT NULL THEN to_json(array({change})) END AS remedy
  FROM (
    SELECT q.*, {changed} AS changed, k.overridden, k.inherited, k.value AS before,
      {merged} AND NOT coalesce(k.overridden, true) AND every(q.status = 'alarm')
        OVER (PARTITION BY q.cluster, k.overridden, k.value) AS by_default
    FROM (
{sql}
    ) q LEFT JOIN topic_configs k
      ON k.cluster = q.cluster AND k.topic = q.resource AND k.key = {name}
  )
) GROUP BY cluster, by_default, subject"""


def changes_of(text: str | None) -> tuple[Change, ...]:
    """The changes of a remedy, as the query of a control returns them. Raises ValueError for a
    value that is not a number."""
    return tuple(map(_change_of, json.loads(text or "[]")))


def _change_of(given: Mapping[str, str]) -> Change:
    kind, name = _KINDS[given["kind"]], given["name"]
    before, after = (kind.read(given[key]) if key in given else None for key in ("before", "after"))
    resource = Resource(kind.resource, name)
    if not kind.resource:
        entity, _, name = name.partition(" ")
        resource = Resource(entity, name)
    reversible = kind.undo == "always" or (kind.undo == "known" and before is not None)
    return Change(resource, kind.verb, given["field"], before, after, reversible=reversible)


def subject(change: Change) -> tuple[Resource, str]:
    """What a change decides: another remedy may not decide it otherwise. Moves of a topic are
    planned from its replicas of now, so they may not be of two kinds."""
    moves = change.verb in ("replicate", "move")
    return change.resource, "replicas" if moves else change.field


# Remedies that remove ACLs, checked together: each may be right alone, and take all access with
# another.


class AclRemovals:
    """The ACLs that are left, after all remedies that were accepted so far.

    `login` is the principal of this connection, if it is known.
    """

    def __init__(self, bindings: Iterable[AclBinding], login: str | None) -> None:
        self._login = login
        self._known = {each.resource.name: each for each in bindings}
        self._gone: set[AclBinding] = set()
        self._by_principal: dict[str, list[AclBinding]] = {}
        self._safe: dict[str, list[AclBinding]] = {}  # removed, as others allow the same
        for each in self._known.values():
            self._by_principal.setdefault(each.principal, []).append(each)

    def refusal(self, names: Iterable[str], *, safe: bool) -> Failure | None:
        """Why a remedy may not remove the ACLs of these names; None if it may, and then they are
        gone. If it is `safe`, others must allow the same."""
        wanted = [each for name in names if (each := self._known.get(name)) and _allows(each)]
        before = set(self._gone)
        self._gone.update(wanted)
        kept = [each for each in wanted if safe]
        for each in kept:
            self._safe.setdefault(each.principal, []).append(each)
        why = next(filter(None, map(self._why, wanted)), None)
        if why is not None:
            self._gone = before
            for each in kept:
                self._safe[each.principal].remove(each)
        return why

    def _why(self, removed: AclBinding) -> Failure | None:
        principal = removed.principal
        if self._is_own(removed) and self._is_lost(removed):
            return Failure("own-login", f"{removed} is needed by the current principal")
        if principal != ANYONE and self._is_lost(removed) and not any(self._allowing(principal)):
            return Failure("no-access-left", f"{principal} would have no access left")
        affected = self._safe.values() if principal == ANYONE else [self._safe.get(principal, ())]
        for each in chain.from_iterable(affected):
            if self._is_lost(each):
                why = f"{each} is needed if the other remedies are applied"
                return Failure("needed", why)
        return None

    def _allowing(self, principal: str) -> Iterator[AclBinding]:
        """The ACLs that are left and allow a principal, or everyone, something."""
        return (each for each in self._of(principal) if _allows(each) and each not in self._gone)

    def _of(self, principal: str) -> Iterator[AclBinding]:
        """All ACLs of a principal and of everyone."""
        for name in dict.fromkeys((principal, ANYONE)):
            yield from self._by_principal.get(name, ())

    def _is_lost(self, removed: AclBinding) -> bool:
        """Whether the principal loses access by this removal, after the others."""
        of = self._of(removed.principal)
        before = tuple(each for each in of if each == removed or each not in self._gone)
        lost, _ = losses(Rules(before), [removed], [], {})
        return bool(lost)

    def _is_own(self, binding: AclBinding) -> bool:
        """Whether the login may need it: its own ACLs, and those of everyone on the cluster."""
        everyone = binding.principal == ANYONE
        on_cluster = binding.resource_type is AclResourceType.CLUSTER
        return binding.principal == self._login or (everyone and on_cluster and bool(self._login))


def _allows(binding: AclBinding) -> bool:
    return binding.permission is AclPermission.ALLOW
