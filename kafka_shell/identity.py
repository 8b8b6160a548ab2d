"""Which cluster this is, by its id: what a session may talk to, and whose guard applies.

The id that a profile led to is kept in a file of the state folder. `cluster-id` of the profile,
where it is set, is stronger: nothing else is accepted then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from kafka_shell.structs import replace

from . import settings
from .config_file import GUARDS
from .context import Context, remembered_ids
from .errors import ShellError
from .settings import GuardedProfile

if TYPE_CHECKING:
    from kafka_shell.admin.wire.failures import OtherClusterError

T = TypeVar("T")


def on_the_right_cluster(context: Context, work: Callable[[], T]) -> T:
    """Do what asks this cluster something. Where another cluster answers, a person is asked whether
    to go on with that one; without a terminal it stays an error."""
    try:
        return work()
    except ShellError as error:
        if error.code != "other-cluster":
            raise
        from kafka_shell.admin.wire.failures import OtherClusterError

        if not isinstance(error, OtherClusterError) or not _accepted(context, error):
            raise
        return work()
    finally:
        remember(context)


def _accepted(context: Context, error: OtherClusterError) -> bool:
    found = context.settings
    pinned = found.sources.get("cluster-id") if found.connection.cluster_id else None
    of_profile = f" (profile {found.profile})" if found.profile else ""
    if pinned is not None:
        error.message += f", which profile {found.profile} names"
        error.hint = (
            f"Nothing was sent to it. Change cluster-id in {pinned.source} if this is right."
        )
        return False
    if found.profile and not found.own_address:
        error.message += f", the one of profile {found.profile}"
        error.hint = (
            "Nothing was sent to it. Name its own profile with --profile, or work on it with:"
            f" connect {error.where}"
        )
        return False
    if context.ask is None:
        error.message += of_profile
        how = (
            f'Set cluster-id = "{error.found}" in [profiles.{found.profile}] of'
            f" {context.paths.config_file}, or answer the question of:"
            f" kafka.sh --profile {found.profile} --list-topics (at a terminal)."
            if found.profile
            else "Begin a new session to work on it."
        )
        error.hint = f"Nothing was sent to it. If it is the right one: {how}"
        return False
    question = (
        f"{error.message}{of_profile}. Nothing was sent to it.\n"
        f"Go on with cluster {error.found}? [y/N] "
    )
    if context.ask(question).strip().lower() not in ("y", "yes"):
        error.message = f"not confirmed: {error.message}"
        return False
    context.accept(error.found)
    return True


# -- what is remembered ----------------------------------------------------------------------------


def remember(context: Context) -> None:
    """Keep which cluster the profile leads to, once it has told its id."""
    found = context.settings
    if not found.profile or not found.own_address or found.connection.cluster_id:
        return
    cluster_id = context.session.known_id
    known = remembered_ids(context.paths)
    if not cluster_id or known.get(found.profile) == cluster_id:
        return
    import json

    from .private import write_private

    try:
        names = json.dumps({**known, found.profile: cluster_id}, indent=1)
        write_private(context.paths.cluster_ids, names)
    except OSError as error:
        context.note(f"{context.paths.cluster_ids} cannot be written: {error.strerror}")


# -- guards ----------------------------------------------------------------------------------------


def guard_of(context: Context) -> tuple[str, str]:
    """(the guard that holds for a change, the profile it is of).

    A profile's own guard; without one, the strictest of the profiles that lead to this cluster. A
    guard is for accidents: `guard = "none"`, or another profile, is how one says that it is meant.
    """
    found = context.settings
    if found.guard:
        return ("" if found.guard == "none" else found.guard), found.profile
    guarded = settings.guarded_profiles(context.paths.config_file)
    if not guarded:
        return "", ""
    here = context.cluster.cluster_id
    brokers = context.cluster.brokers()
    addresses = {*found.connection.bootstrap, *((each.host, each.port) for each in brokers)}
    known = remembered_ids(context.paths)
    holding = [
        each
        for each in guarded
        if _leads_here(replace(each, cluster_id=each.cluster_id or known.get(each.name, "")),
                       here, addresses)
    ]  # fmt: skip
    strictest = max(holding, key=lambda each: GUARDS.index(each.guard), default=None)
    return (strictest.guard, strictest.name) if strictest else ("", "")


def _leads_here(profile: GuardedProfile, here: str, addresses: set[tuple[str, int]]) -> bool:
    """By the cluster's id where both are known, else by an address they have in common."""
    if profile.cluster_id and here:
        return profile.cluster_id == here
    return not addresses.isdisjoint(settings.addresses_of(profile.bootstrap))
