#!/usr/bin/env python3
"""Write the lock of a Kafka version: every jar of its class path with its size and SHA-256.

    scripts/lock_kafka.py org.apache.kafka:kafka_2.13:4.3.1 kafka_shell/sandbox/locks/4.3.1.lock
    scripts/lock_kafka.py org.apache.kafka:kafka-tools:4.3.1 tests/locks/kafka-tools-4.3.1.lock

Resolves the runtime closure with jgo and downloads all of it, so it needs the network and the
extra `sandbox`. Nothing is resolved when a sandbox starts: it only reads what this wrote.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from pathlib import Path

from jgo.maven import Artifact, MavenContext

# Kafka depends on slf4j-api 1.7 and leaves the binding to whoever runs it. It must be the one
# whose loggers that version's LoggingController lists and alters: Log4j 2 since 4.0, Log4j 1
# (reload4j) before.
BINDINGS = {
    "3.9": ["org.slf4j:slf4j-reload4j:1.7.36", "ch.qos.reload4j:reload4j:1.2.26"],
    "4.3": ["org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"],
}


def closure(root: str, scratch: Path) -> list[Artifact]:
    """The jars `root` needs to run, itself first, and the log binding last."""
    context = MavenContext(repo_cache=scratch)
    version = root.rsplit(":", 1)[1]
    # The binding is added, not resolved: as a second root, its managed versions would win over
    # Kafka's, down to the Kafka clients. What it needs is in Kafka's closure at its own version.
    bindings = [context.create_dependency(c) for c in BINDINGS[version.rsplit(".", 1)[0]]]
    inputs, transitive = context.resolver.resolve([context.create_dependency(root)])
    return [found.artifact for found in inputs + transitive + bindings]


def line(jar: Artifact) -> str:
    """A jar as one line of the lock: SHA-256, size in bytes, group:artifact:version."""
    content = jar.resolve().read_bytes()
    coordinate = f"{jar.groupId}:{jar.artifactId}:{jar.version}"
    return f"{hashlib.sha256(content).hexdigest()} {len(content)} {coordinate}"


def main() -> None:
    """Resolve, download, hash, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", help="group:artifact:version")
    parser.add_argument("lock", type=Path, help="the file to write")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        jars = closure(options.root, Path(scratch))
        if any(jar.classifier or jar.packaging != "jar" for jar in jars):
            parser.error("the closure holds more than plain jars, which a lock cannot name")
        header = f"# The class path of {options.root}, written by scripts/lock_kafka.py\n"
        options.lock.write_text(header + "".join(line(jar) + "\n" for jar in jars))


if __name__ == "__main__":
    main()
