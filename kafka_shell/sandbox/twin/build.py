"""Build a twin in a folder, start it, and remove it.

One real node is controller and broker. It loads the metadata of the original from a snapshot, in
which every broker is a stand-in without a process at the node's own address. The node itself is
unregistered as soon as it serves, so that the twin has exactly the brokers of the original. An
unregistered broker continues to serve metadata and forwards changes to the controller.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.acls.model import AclBinding
from kafka_shell.admin.cluster.features import METADATA, levels_of_release
from kafka_shell.admin.cluster.model import Feature
from kafka_shell.admin.configs.model import ConfigResource
from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import open_private, private_folder, to_properties, write_private
from kafka_shell.base.processes import start_module
from kafka_shell.base.structs import replace
from kafka_shell.base.waits import START_S, until
from kafka_shell.sandbox import cluster as sandboxes
from kafka_shell.sandbox import stand_ins
from kafka_shell.sandbox.cluster import attach, others_attached
from kafka_shell.sandbox.config import free_ports, new_id, write_configuration
from kafka_shell.sandbox.jars import Report, locked_versions
from kafka_shell.sandbox.state import Broker, Sandbox, begin, save
from kafka_shell.sandbox.twin import records
from kafka_shell.sandbox.twin.records import write_snapshot
from kafka_shell.wire import messages, model
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import STAND_INS, ConnectionConfig
from kafka_shell.wire.frames import uuid_of
from kafka_shell.wire.metadata_scan import MetadataScan


class Original(Struct, frozen=True):
    """The metadata of a cluster.

    `release` is its Kafka release (`4.3`). `down` are brokers that have replicas or are registered,
    but are not running. `topics` are the names of those to copy. `users` are the iterations of
    SCRAM credentials by user and mechanism; a twin has random secrets for them. `settings` are
    static broker configs. All other configs are those set on the resources themselves.
    """

    release: str
    brokers: tuple[model.Broker, ...]
    down: tuple[model.Broker, ...]
    metadata: MetadataScan
    topics: Sequence[str]
    moving: Mapping[TopicPartition, Reassignment] = field(default_factory=dict)
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=dict)
    acls: Sequence[AclBinding] = ()
    quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)
    users: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    features: Sequence[Feature] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


_LARGEST_ID = (1 << 31) - 1
_DATA = "data"
CLIENT_ID = "kafka-sh-twin"  # of connections to twins
# Static broker configs that decide how topics and groups are created, and what they inherit.
_COPIED = re.compile(
    r"log\.(retention|segment|roll|index|flush\.interval|message|cleanup|preallocate)[a-z.]*"
    r"|log\.cleaner\.(delete\.retention\.ms|m(in|ax)\.[a-z.]+)|compression\.[a-z0-9.]+"
    r"|(num\.partitions|default\.replication\.factor|min\.insync\.replicas|message\.max\.bytes)"
    r"|(delete\.topic|auto\.create\.topics|unclean\.leader\.election)\.enable"
    r"|group\.(consumer|share|streams)\.[a-z.]+"
)
# A number of threads can only be changed to between half and twice the current one. The cleaner
# needs more than 1 MiB of its buffer for each thread, also after that change.
_THREADS = re.compile(
    r"num\.((io|network)\.threads|replica\.fetchers|recovery\.threads\.per\.data\.dir)"
    r"|(background|log\.cleaner)\.threads"
)
_MOST_THREADS = 256  # more would make a twin too heavy
_CLEANER_THREADS, _CLEANER_BUFFER = "log.cleaner.threads", "log.cleaner.dedupe.buffer.size"
_BUFFER_PER_THREAD, _MOST_BUFFER = 4 << 20, 64 << 20
_SIMPLE_VALUE = re.compile(r"[A-Za-z0-9_.-]+")


def nearest_version(release: str) -> str:
    """The version of Kafka for the twin of a cluster of this release: the first one available that
    is not older, or the newest."""
    versions = sorted(locked_versions(), key=_numbers)
    wanted = _numbers(release)[:2]
    return next((version for version in versions if _numbers(version)[:2] >= wanted), versions[-1])


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def build(folder: Path, original: Original, report: Report) -> Sandbox:
    """Create and start a twin in an empty folder. Whatever happens, `remove` deletes it."""
    report("Writing the metadata of the twin", 0, None)
    sandbox = sandboxes.start(write(folder, original).options, report)
    leave_to_stand_ins(sandbox, [broker.id for broker in original.brokers])
    return sandbox


def write(folder: Path, original: Original) -> Sandbox:
    """Create a twin in an empty folder, without starting it."""
    sandbox = _new(folder, original)
    (node,) = sandbox.brokers
    private_folder(folder)
    begin(folder)
    write_configuration(sandbox, node)
    data = private_folder(node.folder / _DATA)
    write_private(data / "meta.properties", to_properties(_identity(sandbox)))
    write_snapshot(data, _records(original, sandbox.kafka_version, node.ports["PLAINTEXT"]))
    save(sandbox)
    return sandbox


def fingerprint(original: Original) -> str:
    """A hash of everything that a twin has of its original: twins with the same one are alike."""
    version = nearest_version(original.release)
    parts = (hashlib.sha256(record).digest() for record in _records(original, version, port=0))
    settings = repr((version, sorted(original.settings.items())))
    return hashlib.sha256(settings.encode() + b"".join(sorted(parts))).hexdigest()


def remove(folder: Path) -> None:
    """Stop a twin in any state and delete its folder."""
    sandboxes.wipe(folder)
    with suppress(OSError):
        shutil.rmtree(folder)


def _new(folder: Path, original: Original) -> Sandbox:
    used = {broker.id for broker in (*original.brokers, *original.down)}
    id = next(id for id in range(_LARGEST_ID, 0, -1) if id not in used)
    port, controller_port = free_ports(2)
    node = Broker(id, "", {"PLAINTEXT": port}, controller_port, folder / f"node-{id}")
    return Sandbox(
        folder,
        nearest_version(original.release),
        new_id(STAND_INS),
        secure=False,
        users=(),
        brokers=(node,),
        topics=len(original.topics),
        stand_in_brokers=len(used),
        overrides=_settings(node, original),
        password=secrets.token_urlsafe(18),
    )


def _settings(node: Broker, original: Original) -> dict[str, str]:
    """The configs of the node that differ from those of a sandbox; empty ones are left out."""
    copied = {
        key: value
        for key, value in original.settings.items()
        if _COPIED.fullmatch(key) and _SIMPLE_VALUE.fullmatch(value)
    }
    own = {
        **_threads(original.settings),
        "broker.rack": "",
        "log.dirs": str(node.folder / _DATA),
        "controller.quorum.bootstrap.servers": "",
        "controller.quorum.voters": f"{node.id}@127.0.0.1:{node.controller_port}",
        "auto.leader.rebalance.enable": "false",  # nothing but the commands changes a twin
    }
    if not original.settings.get("authorizer.class.name", "?"):
        own |= {"authorizer.class.name": "", "super.users": ""}
    return {**copied, **own}


def _threads(settings: Mapping[str, str]) -> dict[str, str]:
    """The numbers of threads of the original. Those that it does not set are Kafka's defaults, not
    those of a sandbox."""
    threads = {
        key: value
        for key, value in settings.items()
        if _THREADS.fullmatch(key) and value.isdigit() and int(value) <= _MOST_THREADS
    }
    buffer = int(threads.get(_CLEANER_THREADS, "1")) * _BUFFER_PER_THREAD
    if buffer > _MOST_BUFFER:
        del threads[_CLEANER_THREADS]
    elif buffer > 2 * _BUFFER_PER_THREAD:
        threads[_CLEANER_BUFFER] = str(buffer)
    return {"num.io.threads": "", "num.network.threads": ""} | threads


def _identity(sandbox: Sandbox) -> Mapping[str, str]:
    return {
        "version": "1",
        "cluster.id": sandbox.cluster_id,
        "node.id": str(sandbox.brokers[0].id),
        "directory.id": new_id(),
    }


# -- the metadata ----------------------------------------------------------------------------------


def _records(original: Original, version: str, port: int) -> Iterator[bytes]:
    """The records of the snapshot. The first is the level of metadata.version."""
    for name, level in _levels(original, version):
        yield records.feature_level(name, level)
    everyone = (*original.brokers, *original.down)
    directories = {broker.id: records.stable_id("directory", broker.id) for broker in everyone}
    down = {broker.id for broker in original.down}
    epochs = broker_epochs(original)
    for broker in everyone:
        yield records.broker(
            broker.id, epochs[broker.id], port, broker.rack, original.features,
            directory=directories[broker.id], fenced=broker.id in down,
        )  # fmt: skip
    yield from _topics(original, directories)
    for resource, values in original.configs.items():
        for key, value in values.items():
            yield records.config(resource, key, value)
    yield from map(records.acl, original.acls)
    for entity, limits in original.quotas.items():
        for key, limit in limits.items():
            yield records.quota(entity, key, limit)
    for user, credentials in original.users.items():
        for mechanism, iterations in credentials.items():
            named = ScramMechanism[mechanism.replace("-", "_")]
            yield records.scram(user, named, iterations)


def broker_epochs(original: Original) -> dict[int, int]:
    """The epoch of each broker of a twin, by ID."""
    everyone = (*original.brokers, *original.down)
    return {broker.id: epoch for epoch, broker in enumerate(everyone, 1)}


def _levels(original: Original, version: str) -> Iterator[tuple[str, int]]:
    """The feature levels of the original, as far as this version of Kafka supports them."""
    highest = levels_of_release(".".join(version.split(".")[:2])) or {}
    known = {feature.name: feature.level for feature in original.features}
    yield METADATA, min(known.get(METADATA) or highest[METADATA], highest[METADATA])
    for name, most in highest.items():
        level = min(known.get(name, 0), most)
        if level and name not in (METADATA, "kraft.version"):  # the latter is not metadata
            yield name, level


def _topics(original: Original, directories: Mapping[int, bytes]) -> Iterator[bytes]:
    moving = {(each.topic, each.partition): each for each in original.moving.values()}
    for name in original.topics:
        topic = original.metadata.topic(name)
        id = uuid_of(topic.id).bytes if topic.id else records.stable_id("topic", name)
        yield records.topic(name, id)
        for partition in topic.partitions:
            move = moving.get((name, partition.partition))
            yield records.partition(
                id,
                partition,
                directories,
                move.adding if move else (),
                move.removing if move else (),
            )


# -- the node --------------------------------------------------------------------------------------


def leave_to_stand_ins(sandbox: Sandbox, running: Collection[int]) -> None:
    """Unregister the node, and wait until it shows only the brokers that run of the original."""
    (node,) = sandbox.brokers
    with Cluster(controller_of(sandbox)) as controller:
        controller.send(messages.UnregisterBrokerRequest(broker_id=node.id))
    with connect(sandbox) as cluster:
        for _ in cluster.attempts(START_S):
            if {broker.id for broker in cluster.brokers(refresh=True)} == set(running):
                return
    raise ShellError(
        "the twin does not show the brokers of its original",
        hint=f"See its log {node.log}.",
        code="no-twin",
    )


def connect(sandbox: Sandbox) -> Cluster:
    """A connection to a twin, and to no other cluster."""
    return Cluster(broker_of(sandbox))


def broker_of(sandbox: Sandbox) -> ConnectionConfig:
    """The connection to the broker of a twin."""
    (node,) = sandbox.brokers
    config = stand_ins.connection(sandbox, node.ports["PLAINTEXT"])
    return replace(config, client_id=CLIENT_ID, cluster_id=sandbox.cluster_id)


def controller_of(sandbox: Sandbox) -> ConnectionConfig:
    """The connection to the controller of a twin."""
    (node,) = sandbox.brokers
    return replace(stand_ins.connection(sandbox, node.controller_port), client_id=CLIENT_ID)


# A twin that is ready for the next rehearsal of an unchanged cluster.
#
# When a rehearsal has ended, a process of its own (this module) starts another twin of the same
# metadata. The next rehearsal reads the cluster, and takes this twin if nothing has changed. If it
# is not taken within ten minutes, the process removes it. There is one spare twin at a time.
#
# The process marks the folder as used for as long as it lives. A file in the folder says how far
# the twin is; it is only ever renamed, so that each step is taken by one process.

KEPT_S = 600.0
MOST_TOPICS = 10_000  # a larger twin takes more memory than may be in use unasked
_HANDOVER_S = 10.0  # until who takes the twin has marked it as used
# The file of a folder. The process removes a twin that became unwanted while it was started.
_STARTING, _READY = "spare-starting", "spare-ready"
_TAKEN, _UNWANTED = "spare-taken", "spare-unwanted"


def prepare(root: Path, original: Original) -> None:
    """Begin to start a spare twin below `root`, in the background, unless it would be large. Raises
    ShellError or OSError if it cannot be written."""
    discard(root)
    if len(original.topics) > MOST_TOPICS:
        return
    folder = root / secrets.token_hex(8)
    with attach(folder) as attachment:
        write(folder, original)
        known = {
            "fingerprint": fingerprint(original),
            "running": [broker.id for broker in original.brokers],
        }
        write_private(folder / _STARTING, json.dumps(known))
        with open_private(folder / "spare.log", "a") as log:
            start_module(
                "kafka_shell.sandbox.twin.build", folder, attachment.pass_on(),
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip


def take(root: Path, original: Original, report: Report) -> Sandbox | None:
    """The spare twin, if there is one of exactly this metadata. The caller removes it."""
    wanted = ""
    for folder in _spares(root):
        wanted = wanted or fingerprint(original)
        if _known(folder).get("fingerprint") != wanted:
            continue

        def started(folder: Path = folder) -> bool:
            report("Waiting for the twin that is being started", 0, None)
            return not ((folder / _STARTING).exists() and others_attached(folder))

        until(started, START_S)
        if (folder / _STARTING).exists() and not others_attached(folder):  # its process was killed
            _discard(folder)
        if _claim(folder):
            sandbox = sandboxes.status(folder)
            if sandbox is not None and sandbox.running:
                return sandbox
            remove(folder)
    return None


def discard(root: Path) -> None:
    """Remove spare twins. One that is being started is removed by its process as soon as it can,
    unless that was killed."""
    for folder in _spares(root):
        _discard(folder)


def _discard(folder: Path) -> None:
    if _claim(folder) or (_rename(folder, _STARTING, _UNWANTED) and not others_attached(folder)):
        remove(folder)


def _spares(root: Path) -> Iterator[Path]:
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if (folder / _STARTING).exists() or (folder / _READY).exists():
            yield folder


def _known(folder: Path) -> dict[str, Any]:
    for name in (_READY, _STARTING, _READY):  # it may be renamed in between
        with suppress(OSError, ValueError):
            known: dict[str, Any] = json.loads((folder / name).read_text())
            return known
    return {}


def _claim(folder: Path) -> bool:
    """Take a twin that is ready. Only one process can."""
    return _rename(folder, _READY, _TAKEN)


def _rename(folder: Path, old: str, new: str) -> bool:
    """Whether this process has renamed the file."""
    with suppress(OSError):
        (folder / old).rename(folder / new)
        return True
    return False


# -- the process -----------------------------------------------------------------------------------


def keep(folder: Path, seconds: float = KEPT_S) -> None:
    """Start the twin in this folder, and remove it if it is not used in time."""
    with attach(folder):
        try:
            _start(folder)
            until(lambda: not (folder / _READY).exists(), seconds, 1)
        except BaseException:
            remove(folder)
            raise
        if _claim(folder) or not (folder / _TAKEN).exists():
            remove(folder)
        else:
            time.sleep(_HANDOVER_S)


def _start(folder: Path) -> None:
    known, sandbox = _known(folder), sandboxes.status(folder)
    if not known or sandbox is None:  # it is unwanted
        return
    sandbox = sandboxes.start(sandbox.options)
    leave_to_stand_ins(sandbox, known["running"])
    _rename(folder, _STARTING, _READY)


if __name__ == "__main__":
    os.chdir("/")  # no folder is kept busy
    os.set_inheritable(int(sys.argv[2]), False)  # the JVM must not mark the folder as used
    keep(Path(sys.argv[1]))
