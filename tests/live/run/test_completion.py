"""The completion scripts in real shells, with the cache that a session wrote to disk."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.base.units import ConfigType
from kafka_shell.context import Paths
from kafka_shell.view.disk import DiskCache
from tests.support.program import Program

BROKER = "kafka-1.example:9092"  # nobody listens there: completion asks no network


@pytest.fixture
def kafka(tmp_path: Path) -> Program:
    """The program, whose last session saw a few topics and the documentation of two keys."""
    from kafka_shell.view.view import ConfigDoc

    disk_cache = DiskCache(Paths.of({"KAFKA_SH_HOME": str(tmp_path)}).cache)
    disk_cache.save_topics(BROKER, "id", ["orders.placed", "orders.shipped", "web.clicks"])
    names = {"groups": ["billing"], "users": ["alice"], "principals": ["User:alice"]}
    disk_cache.save_names(BROKER, names)
    keys = ("retention.ms", "retention.bytes", "cleanup.policy")
    docs = {key: ConfigDoc(key, ConfigType.LONG, "How long.") for key in keys}
    disk_cache.save_documentation("4.3", ResourceType.TOPIC, docs)
    command = tmp_path / "bin" / "kafka.sh"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m kafka_shell "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return Program(tmp_path, environ={"PATH": f"{command.parent}:{os.environ['PATH']}"})


def bash(kafka: Program, line: str) -> list[str]:
    """What bash would offer at the end of the line."""
    script = (
        'eval "$(kafka.sh --completion bash)"; COMP_POINT=${#COMP_LINE};'
        "COMP_WORDS=(kafka.sh); _kafka_sh; "
        '[ ${#COMPREPLY[@]} -gt 0 ] && printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return _lines(kafka, ["bash", "-c", script], COMP_LINE=line, COMP_WORDBREAKS=" \t\n\"'><=;|&(:")


def zsh(kafka: Program, line: str) -> list[str]:
    """The same in zsh; its compadd is told to print."""
    words = " ".join(f"'{word}'" for word in line.split(" "))
    script = (
        "compdef() { :; }; compadd() { print -l -- $found; };"
        'eval "$(kafka.sh --completion zsh)";'
        f"words=({words}); CURRENT=${{#words}}; _kafka_sh"
    )
    return _lines(kafka, ["zsh", "-f", "-c", script])


def fish(kafka: Program, line: str) -> list[str]:
    """The same in fish, which knows how to be asked."""
    script = "kafka.sh --completion fish | source; complete -C $argv[1]"
    found = _lines(kafka, ["fish", "--no-config", "-c", script, line])
    return [each.split("\t")[0] for each in found]


def _lines(kafka: Program, command: list[str], **environ: str) -> list[str]:
    done = subprocess.run(
        command, env=kafka.environment() | environ, capture_output=True, text=True, check=False
    )
    assert not done.stderr, f"{command} said {done.stderr}"
    return done.stdout.splitlines()


SHELLS = [
    pytest.param(
        shell,
        marks=pytest.mark.skipif(not shutil.which(shell.__name__), reason="not installed here"),
    )
    for shell in (bash, zsh, fish)
]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("kafka.sh describe-c", {"describe-configs"}),
        ("kafka.sh --describe-c", {"--describe-configs"}),
        ("kafka.sh --sand", {"--sandbox"}),
        (f"kafka.sh --broker {BROKER} topic ord", {"orders.placed", "orders.shipped"}),
        (f"kafka.sh topic web. --broker {BROKER} --un", {"--unavailable-partitions"}),
        ("kafka.sh topics --output j", {"json"}),
        ("kafka.sh list-topics --exc", {"--exclude-internal"}),
        (f"kafka.sh --broker {BROKER} alter-configs orders.placed retention.m", {"retention.ms="}),
        (f"kafka.sh --broker {BROKER} describe-group bil", {"billing"}),
        (f"kafka.sh --broker {BROKER} alter-quotas --user al", {"alice"}),
        (f"kafka.sh --broker {BROKER} no-such-command x", set()),
    ],
)
def test_a_tab_offers(kafka: Program, shell: object, line: str, offered: set[str]) -> None:
    assert callable(shell)
    found = {each.strip() for each in shell(kafka, line)} - {""}
    assert found >= offered if offered else not found, f"{line}<TAB> in {shell.__name__}"


def test_bash_gets_only_what_follows_its_word_breaks(kafka: Program) -> None:
    """bash ends words at `=`: the candidate must not repeat the key."""
    kept = DiskCache(Paths.of({"KAFKA_SH_HOME": str(kafka.home)}).cache)
    assert kept.view(BROKER).topics.value.names
    line = f"kafka.sh --broker {BROKER} alter-configs orders.placed cleanup.policy=com"
    assert bash(kafka, line) == ["compact"]


def test_a_broken_cache_or_config_offers_nothing_and_says_nothing(kafka: Program) -> None:
    config = Paths.of({"KAFKA_SH_HOME": str(kafka.home)}).config_file
    config.parent.mkdir(parents=True)
    config.write_text("default = [broken")
    assert bash(kafka, "kafka.sh topic ord") == []


HOSTILE = [
    "a\n$(touch PWNED)\n", "a'; touch PWNED; '", "a=b;touch PWNED", "a:$(touch PWNED)",
    "a`touch PWNED`", 'a"; touch PWNED; "', "a\t; touch PWNED", "--yes", "--group=orders", "-x",
    "a b", "a\x1b[2J", "a\u202eb", "a!!", "a\\", "a\x00b", "a;touch PWNED", "a|touch PWNED",
    "a&touch PWNED", "~", "a*", "a#b", "a{b,c}", "a>PWNED",
]  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS)
def test_hostile_names_stay_one_word(kafka: Program, shell: object) -> None:
    """What a Tab inserts is a single word of the shell's that is the name, whatever it holds."""
    assert callable(shell)
    disk_cache = DiskCache(Paths.of({"KAFKA_SH_HOME": str(kafka.home)}).cache)
    disk_cache.save_names(BROKER, {"groups": HOSTILE, "users": [], "principals": []})
    for start in ("delete-group ", "delete-group a", "delete-group --group ", "delete-group a=",
                  "delete-group a:", "delete-group -"):  # fmt: skip
        offered = [each for each in shell(kafka, f"kafka.sh --broker {BROKER} {start}") if each]
        assert not any(each.startswith("--yes") for each in offered if start != "delete-group -")
        assert "--group=orders" not in offered
        if shell is not bash:
            continue
        for each in offered:
            typed = start.split()[-1] if start[-1] in "=:" else ""
            words = subprocess.run(
                ["bash", "-c", f'set -f; printf "%s\\0" {typed}{each}'],
                cwd=kafka.home, capture_output=True, text=True, check=True,
            ).stdout.split("\0")[:-1]  # fmt: skip
            assert len(words) == 1, (start, each)
            assert words[0] in HOSTILE or words[0].startswith("--"), (start, each)
    assert not list(kafka.home.rglob("PWNED"))


def test_bash_inside_quotes(kafka: Program) -> None:
    disk_cache = DiskCache(Paths.of({"KAFKA_SH_HOME": str(kafka.home)}).cache)
    disk_cache.save_names(BROKER, {"groups": [*HOSTILE, "a c"], "users": [], "principals": []})
    offered = bash(kafka, f"kafka.sh --broker {BROKER} delete-group 'a")
    assert {"a b", "a c", "a;touch PWNED"} <= set(offered)
    assert not [each for each in offered if set(each) & set("'\"$`\\!\n")]
    assert bash(kafka, f"kafka.sh --broker {BROKER} delete-group 'a=") == []
