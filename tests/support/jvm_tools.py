"""Kafka's own command line tools, to compare with this program.

One JVM, started on first use, runs the main classes of the tools one after the other: a tool takes
about 0.1 s there, and 1 to 2 s in a separate JVM.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from py4j.java_gateway import (
    CallbackServerParameters,
    GatewayParameters,
    JavaGateway,
    launch_gateway,
)
from py4j.protocol import Py4JError

from kafka_shell.base.java import find_java
from kafka_shell.sandbox.jars import class_path, fetch, locked_jars, read_lock
from tests.support.places import ROOT

LOCK = ROOT / "tests" / "locks" / "kafka-tools-4.3.1.lock"
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dlog4j2.level=OFF")
CONFIGS = "kafka.admin.ConfigCommand"  # kafka-configs.sh, which comes with the broker
PATIENCE_S = 150  # Kafka's clients give up after two minutes, and say why


def tool_command(main_class: str, *arguments: str) -> list[str]:
    """The command line of a tool, by its main class: `org.apache.kafka.tools.TopicCommand` say."""
    return [str(find_java()), *JVM, "-cp", _class_path(), main_class, *arguments]


def run_tool(main_class: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tool's main class to its end."""
    return _jvm().run(main_class, arguments)


def java() -> Any:
    """The JVM's classes by their names: `java().org.apache.kafka.common.TopicPartition`."""
    return _jvm().java


def _class_path() -> str:
    jars = [*read_lock(LOCK.read_text()), *locked_jars("4.3.1")]
    return class_path(fetch(list(dict.fromkeys(jars)), report=lambda *_: None))


@cache
def _jvm() -> _Jvm:
    return _Jvm()


class _Jvm:
    """A JVM that ends with this process."""

    def __init__(self) -> None:
        port = launch_gateway(
            classpath=_class_path(), javaopts=[*JVM], java_path=str(find_java()), die_on_exit=True
        )
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, read_timeout=PATIENCE_S),
            callback_server_parameters=CallbackServerParameters(
                port=0, daemonize=True, daemonize_connections=True
            ),
        )
        server = self._gateway.java_gateway_server
        listening = self._gateway.get_callback_server().get_listening_port()
        server.resetCallbackClient(server.getCallbackClient().getAddress(), listening)
        self.java = java = self._gateway.jvm
        self._out, self._err = (java.java.io.ByteArrayOutputStream() for _ in range(2))
        java.java.lang.System.setOut(java.java.io.PrintStream(self._out, True))
        java.java.lang.System.setErr(java.java.io.PrintStream(self._err, True))
        java.org.apache.kafka.common.utils.Exit.setExitProcedure(self)
        self._ended: tuple[int, str, str] | None = None

    def run(self, main_class: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        java = self.java
        words = self._gateway.new_array(java.java.lang.String, len(arguments))
        for number, word in enumerate(arguments):
            words[number] = word
        self._out.reset()
        self._err.reset()
        self._ended = None
        try:
            attrgetter(main_class)(java).main(words)
        except Py4JError:  # also what PySpark makes of it, once it has patched py4j
            if self._ended is None:
                raise
        status, out, err = self._ended or (0, str(self._out), str(self._err))
        return subprocess.CompletedProcess([main_class, *arguments], status, out, err)

    def execute(self, status: int, message: str | None) -> None:
        """What a tool calls to end with a status: it ends the tool here, not the JVM."""
        if self._ended is None:  # a tool may catch what is raised here, and end once more
            self._ended = status, str(self._out), str(self._err)
        raise Ended(status)

    class Java:
        implements = ("org.apache.kafka.common.utils.Exit$Procedure",)


class Ended(Exception):
    """Unwinds a tool that has ended."""
