"""Commands stop if another cluster responds at the same address, until it is accepted."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_shell import identity, settings
from kafka_shell.base.structs import replace
from kafka_shell.context import ClusterSession, Context, Paths, remembered_ids
from kafka_shell.run.dispatch import run_text
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.view.cache import Cache


@dataclass
class Session:
    """A session that lives on while its cluster is replaced."""

    context: Context
    out: io.StringIO = field(default_factory=io.StringIO)
    err: io.StringIO = field(default_factory=io.StringIO)
    questions: list[str] = field(default_factory=list)

    def answers(self, *answers: str) -> None:
        left = list(answers)

        def ask(question: str, *, secret: bool = False) -> str:
            self.questions.append(question)
            return left.pop(0)

        self.context = replace(self.context, ask=ask)

    def __call__(self, line: str) -> int:
        self.out, self.err, self.questions = io.StringIO(), io.StringIO(), []
        self.context = replace(self.context, out=self.out, err=self.err)
        status = int(run_text(line, self.context))
        assert "Traceback" not in self.err.getvalue()
        return status

    @property
    def said(self) -> str:
        return self.err.getvalue()


def session(paths: Paths, **flags: object) -> Session:
    named = {name.replace("_", "-"): value for name, value in flags.items()}
    found = settings.load(named, {}, paths.config_file)
    return Session(Context(ClusterSession(found), paths, environ={}))


@dataclass
class Place:
    """One address, and the clusters that come to be there."""

    folder: Path
    cluster: Sandbox

    def replace(self) -> None:
        """Another cluster on the same port."""
        wipe(self.folder)
        self.revive()

    def revive(self) -> None:
        """A cluster on the port, whatever became of the one before."""
        self.cluster = start(SandboxOptions(self.folder, port=self.cluster.options.port))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    try:
        yield Place(folder, start(SandboxOptions(folder, port=0)))
    finally:
        wipe(folder)


@pytest.fixture
def place(address: Place) -> Place:
    """With a cluster that runs, also after a test that failed while it replaced the one before."""
    address.revive()
    return address


@pytest.fixture
def paths(tmp_path: Path, place: Place) -> Paths:
    found = Paths.of({"KAFKA_SH_HOME": str(tmp_path)})
    found.config.mkdir(parents=True)
    configure(found, place)
    return found


def configure(paths: Paths, place: Place, more: str = "") -> None:
    paths.config_file.write_text(f'[profiles.dev]\nbootstrap = "{place.cluster.bootstrap}"\n{more}')


def test_a_profile_s_cluster_is_remembered(paths: Paths, place: Place) -> None:
    assert session(paths, profile="dev")("list-topics") == 0
    assert remembered_ids(paths) == {"dev": place.cluster.cluster_id}
    assert paths.cluster_ids.stat().st_mode & 0o777 == 0o600


def test_another_address_is_not_remembered_for_the_profile(paths: Paths, place: Place) -> None:
    port = place.cluster.bootstrap.rpartition(":")[2]
    assert session(paths, profile="dev", broker=f"localhost:{port}")("list-topics") == 0
    assert remembered_ids(paths) == {}


def test_shells_that_connect_at_the_same_time_remember_both_clusters(
    paths: Paths, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(paths, place, f'[profiles.too]\nbootstrap = "{place.cluster.bootstrap}"\n')
    other_shell = threading.Thread(target=session(paths, profile="too"), args=("list-topics",))
    write = identity.write_private

    def write_late(path: Path, content: str) -> None:
        monkeypatch.undo()
        other_shell.start()
        other_shell.join(2)  # it waits for this one
        write(path, content)

    monkeypatch.setattr(identity, "write_private", write_late)
    assert session(paths, profile="dev")("list-topics") == 0
    other_shell.join()
    assert remembered_ids(paths) == dict.fromkeys(("dev", "too"), place.cluster.cluster_id)


def other(paths: Paths) -> None:
    """As if the profile had led to another cluster before."""
    paths.cluster_ids.parent.mkdir(parents=True, exist_ok=True)
    paths.cluster_ids.write_text(json.dumps({"dev": "another-cluster"}))


@pytest.mark.parametrize("line", ["list-topics", "list-groups", "list-acls", "create-topic t"])
def test_without_a_terminal_another_cluster_is_refused(
    paths: Paths, place: Place, line: str
) -> None:
    """Reading, too: what is asked of the wrong cluster is answered wrongly."""
    other(paths)
    dev = session(paths, profile="dev")
    assert dev(line) == 1
    assert f'is now cluster "{place.cluster.cluster_id}", not cluster another-cluster' in dev.said
    assert f'cluster-id = "{place.cluster.cluster_id}"' in dev.said
    assert dev.out.getvalue() == ""
    assert remembered_ids(paths) == {"dev": "another-cluster"}


def test_the_hint_is_right(paths: Paths, place: Place) -> None:
    other(paths)
    configure(paths, place, f'cluster-id = "{place.cluster.cluster_id}"\n')
    assert session(paths, profile="dev")("list-groups") == 0


def test_a_cluster_id_in_the_profile_is_not_a_question(paths: Paths, place: Place) -> None:
    configure(paths, place, 'cluster-id = "the-right-one"\n')
    dev = session(paths, profile="dev")
    dev.answers("y")
    assert dev("list-topics") == 1
    assert dev.questions == []
    assert f"{paths.config_file}:3" in dev.said


@pytest.mark.parametrize("answer", ["n", "", "y"])
def test_at_a_terminal_it_is_a_question(paths: Paths, place: Place, answer: str) -> None:
    other(paths)
    dev = session(paths, profile="dev")
    dev.answers(answer)
    assert dev("list-groups") == (0 if answer == "y" else 1)
    (question,) = dev.questions
    assert "not cluster another-cluster (profile dev)" in question
    found = place.cluster.cluster_id if answer == "y" else "another-cluster"
    assert remembered_ids(paths) == {"dev": found}
    if answer == "y":
        assert dev("list-topics") == 0
        assert dev.questions == [], "asked once"


def test_a_profile_and_another_cluster_s_address(paths: Paths, place: Place) -> None:
    other(paths)
    port = place.cluster.bootstrap.rpartition(":")[2]
    dev = session(paths, profile="dev", broker=f"localhost:{port}")
    dev.answers("y")
    assert dev("list-groups") == 1
    assert dev.questions == []
    assert f"connect localhost:{port}" in dev.said
    assert session(paths, broker=f"localhost:{port}")("list-groups") == 0


def test_a_session_notices_another_cluster(paths: Paths, place: Place) -> None:
    """The broker goes, and another cluster answers at its address."""
    bare = session(paths, broker=place.cluster.bootstrap)
    assert bare("create-topic before") == 0
    assert bare("list-groups") == 0
    place.replace()
    for line in ("create-topic after", "list-groups", "create-topic x --deadline 20s"):
        assert bare(line) == 1, bare.said
        assert "If the new cluster is correct" in bare.said
    bare.answers("y")
    assert bare("list-topics") == 0
    assert bare.out.getvalue() == "", "nothing was created there"


def test_a_pending_plan_is_not_sent_to_another_cluster(paths: Paths, place: Place) -> None:
    dev = session(paths, profile="dev")
    assert dev("create-topic doomed") == 0

    def ask(question: str, *, secret: bool = False) -> str:
        dev.questions.append(question)
        if len(dev.questions) > 1:
            return "n"
        place.replace()
        assert session(paths, broker=place.cluster.bootstrap)("create-topic doomed") == 0
        return "y"

    dev.context = replace(dev.context, ask=ask)
    assert dev("delete-topic doomed") == 1
    assert len(dev.questions) == 2, dev.said
    assert "not cluster" in dev.questions[1]
    there = session(paths, broker=place.cluster.bootstrap)
    assert there("list-topics") == 0
    assert there.out.getvalue() == "doomed\n"


def test_the_cache_does_not_mix_clusters(paths: Paths, place: Place) -> None:
    """What was kept on disk of the cluster that was at this address is not offered for another."""

    def read_once() -> Cache:
        bare = session(paths, broker=place.cluster.bootstrap)
        cache = Cache(bare.context.connection, paths.cache)
        cache._load_from_disk()
        cache._read_requested(["topics", "groups"])
        return cache

    first = read_once()
    assert first.state.failure is None
    first._disk_cache.save_names(first.bootstrap, {"groups": ["of-the-first"]})
    again = Cache(first._connection, paths.cache)
    again._load_from_disk()
    assert "of-the-first" in again.view.groups.value.names
    first.close()
    place.replace()
    second = Cache(session(paths, broker=place.cluster.bootstrap).context.connection, paths.cache)
    second._load_from_disk()
    second._read_requested(["topics"])
    assert "of-the-first" not in second.view.groups.value.names
    assert second.view.cluster_id == place.cluster.cluster_id
