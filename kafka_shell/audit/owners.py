"""owners.toml: the teams that own resources. The first entry that matches decides.

[[owner]]
team = "payments"
resource = "payments.*,billing-*"   # as in [[suppress]] of a policy
cluster = "prod-*"                  # optional
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from kafka_shell.audit.model import AuditFinding, AuditReport, FindingHistory
from kafka_shell.audit.policy import check_entries, regex_of, wrong
from kafka_shell.audit.run import only
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.files import read_toml
from kafka_shell.base.structs import replace

FILE = "owners.toml"
_KEYS = ("team", "resource", "cluster")
_PARTITION = re.compile(r":\d+\Z")
_Finding = TypeVar("_Finding", AuditFinding, FindingHistory)


class Owner(Struct, frozen=True):
    """A team, and the selectors of its resources and of their clusters."""

    team: str
    resource: str
    cluster: str = "*"

    def owns(self, cluster: str, resource: str) -> bool:
        """Return whether a resource, or the topic of a partition, belongs to the team."""
        names = {resource, _PARTITION.sub("", resource)}
        return _matches(self.cluster, cluster) and any(_matches(self.resource, n) for n in names)


def _matches(selector: str, name: str) -> bool:
    return _pattern(selector).fullmatch(name) is not None


@lru_cache(maxsize=1024)
def _pattern(selector: str) -> re.Pattern[str]:
    return re.compile(regex_of(selector))


def read(path: Path) -> tuple[Owner, ...]:
    """Read a file of owners; none if it does not exist. Raises ShellError with the mistake."""
    if not path.exists():
        return ()
    _, data = read_toml(path)
    for name in data:
        if name != "owner":
            raise wrong(path, f"unknown section [{name}]", "Use [[owner]].")
    entries = data.get("owner", [])
    check_entries(path, "owner", entries, _KEYS, _KEYS[:2])
    found = tuple(Owner(**entry) for entry in entries)
    for each in found:
        for selector in (each.resource, each.cluster):
            try:
                _pattern(selector)
            except re.error as error:
                raise wrong(path, f"invalid pattern {selector!r}: {error}") from None
    return found


def owner_of(owners: Iterable[Owner], cluster: str, resource: str) -> str:
    """Return the team that owns a resource, or an empty string."""
    return next((each.team for each in owners if each.owns(cluster, resource)), "")


def with_owners(report: AuditReport, owners: Sequence[Owner]) -> AuditReport:
    """Return the report with the owners of its findings."""
    return replace(report, findings=tuple(with_owner(each, owners) for each in report.findings))


def with_owner(finding: _Finding, owners: Sequence[Owner]) -> _Finding:
    """Return the finding, of an audit or of the history, with its owner."""
    team = owner_of(owners, finding.cluster, finding.resource)
    return replace(finding, owner=team) if team else finding


def require_team(owners: Sequence[Owner], team: str, path: Path) -> None:
    """Raise UsageError if no entry names the team."""
    teams = sorted({each.team for each in owners})
    if team not in teams:
        raise UsageError(
            f"team {team!r} is not in {path}",
            hint=did_you_mean(team, teams, f"Use one of: {', '.join(teams)}." if teams else ""),
            code="no-team",
        )


def concerns(finding: AuditFinding, team: str) -> bool:
    """Return whether a finding is one of the team, or something that was not checked."""
    return finding.status not in ("alarm", "info") or finding.owner == team


def of_team(report: AuditReport, team: str) -> AuditReport:
    """Return the report with only the alarms of a team, and all that was not checked."""
    kept = (each for each in report.findings if concerns(each, team))
    return only(report, kept, report.left_out)
