"""The identity of the cluster: which cluster a session may use, and whose guard applies.

The cluster ID of a profile's last connection is kept in a file of the state directory. If the
profile sets `cluster-id`, no other cluster is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from kafka_shell import settings
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked, write_private
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quoted
from kafka_shell.config_file import GUARDS, TopicRule
from kafka_shell.context import Context, confirmed, remembered_ids
from kafka_shell.settings import GuardedProfile
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.failures import OtherClusterError

if TYPE_CHECKING:
    from kafka_shell.wire.model import Broker

T = TypeVar("T")


def on_expected_cluster(context: Context, work: Callable[[], T]) -> T:
    """Run work that uses the cluster. If another cluster answers, the user is asked whether to
    continue with that one. Without a terminal it is an error."""
    try:
        return work()
    except ShellError as error:
        if error.code != "other-cluster":
            raise
        if not isinstance(error, OtherClusterError) or not _accepted(context, error):
            raise
        return work()
    finally:
        _remember_id(context)
        for message in context.session.cluster.shared_addresses if context.session.cluster else ():
            context.note(message)


def _accepted(context: Context, error: OtherClusterError) -> bool:
    """Whether the user accepts the other cluster. If not, the error says why and what to do."""
    current = context.settings
    pinned = current.sources.get("cluster-id") if current.connection.cluster_id else None
    of_profile = f" (profile {current.profile})" if current.profile else ""
    if error.sent:
        return False
    if pinned is not None:
        error.message += f", which profile {current.profile} requires"
        error.hint = f"If the new cluster is correct, change cluster-id in {pinned.source}."
        return False
    if current.profile and not current.profile_address:
        error.message += f", the cluster of profile {current.profile}"
        error.hint = (
            f"Use the profile of this cluster with --profile, or run: connect {error.where}"
        )
        return False
    if context.ask is None:
        error.message += of_profile
        how = (
            f'set cluster-id = "{error.found}" in [profiles.{current.profile}] of'
            f" {context.paths.config_file}, or run this at a terminal and confirm:"
            f" kafka.sh --profile {current.profile} --list-topics"
            if current.profile
            else "start a new session."
        )
        error.hint = f"If the new cluster is correct, {how}"
        return False
    question = f"{error.message}{of_profile}.\nContinue with cluster {quoted(error.found)}?"
    if not confirmed(context.ask, question):
        error.message = f"not confirmed: {error.message}"
        return False
    context.accept_cluster(error.found)
    return True


def _remember_id(context: Context) -> None:
    """Save the ID of the profile's cluster, if it is known."""
    current = context.settings
    if not current.profile or not current.profile_address or current.connection.cluster_id:
        return
    cluster_id = context.session.known_id
    before = remembered_ids(context.paths).get(current.profile)
    if not cluster_id or before == cluster_id:
        return
    if not before and current.guard in GUARDS[1:]:
        context.note(
            f"the guard of profile {current.profile} now applies to cluster {cluster_id} at other"
            " addresses, too"
        )
    import json

    path = context.paths.cluster_ids
    try:
        with locked(path.with_suffix(".lock")):  # other shells add theirs
            ids = {**remembered_ids(context.paths), current.profile: cluster_id}
            write_private(path, json.dumps(ids, indent=1))
    except OSError as error:
        context.note(f"cannot write {path}: {error.strerror}")


# -- guards ----------------------------------------------------------------------------------------


def guard_of(context: Context) -> tuple[str, str]:
    """The guard that applies to a change, and the profile that sets it.

    A profile's own guard applies to its own address: `guard = "none"` or another profile is how
    the user says that a change is meant. At any other address, the strictest guard applies: of the
    session's profile and of all profiles of this cluster.
    """
    return _guard_of(context, lambda: (context.cluster.cluster_id, context.cluster.brokers()))


def known_guard(context: Context) -> str:
    """The guard that applies as far as the cached view tells. Sends no request."""
    if context.cache is None:
        return ""
    view = context.cache.view
    try:
        return _guard_of(context, lambda: (view.cluster_id, view.brokers.value))[0]
    except ShellError:  # of the config file: a change reports it
        return ""


def _guard_of(
    context: Context, cluster: Callable[[], tuple[str, Iterable[Broker]]]
) -> tuple[str, str]:
    current = context.settings
    own = ("" if current.guard == "none" else current.guard), current.profile
    if current.guard and (current.profile_address or not current.profile):
        return own
    known = settings.guarded_profiles(context.paths.config_file)
    guarded = [profile for profile in known if profile.guard]
    guards = [(profile.guard, profile.name) for profile in _of_cluster(guarded, context, cluster)]
    if own[0]:
        guards.append(own)
    return max(guards, key=lambda each: GUARDS.index(each[0]), default=("", ""))


def masks_of(context: Context) -> tuple[TopicRule, ...]:
    """What is masked in the records of the cluster: by the profile, or, as guards, at another
    address than its own also by all profiles of this cluster. Raises ShellError."""
    current = context.settings
    own = tuple(rule for rule in current.topics if rule.mask)
    if current.profile and current.profile_address:
        return own
    masking = [each for each in settings.guarded_profiles(context.paths.config_file) if each.masks]
    there = _of_cluster(
        masking, context, lambda: (context.cluster.cluster_id, context.cluster.brokers())
    )
    return (*own, *(rule for profile in there for rule in profile.masks))


def _of_cluster(
    profiles: Sequence[GuardedProfile],
    context: Context,
    cluster: Callable[[], tuple[str, Iterable[Broker]]],
) -> list[GuardedProfile]:
    """Those of the profiles that are for this cluster, which is asked only if there are any."""
    if not profiles:
        return []
    cluster_id, brokers = cluster()
    bootstrap = context.settings.connection.bootstrap
    addresses = {*bootstrap, *(Address(b.host, b.port) for b in brokers)}
    ids = remembered_ids(context.paths)
    named = (
        replace(profile, cluster_id=profile.cluster_id or ids.get(profile.name, ""))
        for profile in profiles
    )
    return [profile for profile in named if _is_profile_of(profile, cluster_id, addresses)]


def _is_profile_of(profile: GuardedProfile, cluster_id: str, addresses: set[Address]) -> bool:
    """Whether a profile is for this cluster: by its address, or also by its cluster ID."""
    if cluster_id and profile.cluster_id == cluster_id:
        return True
    return not addresses.isdisjoint(settings.addresses_of(profile.bootstrap))
