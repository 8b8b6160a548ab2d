"""A pasted kafka-configs line about credentials and quotas is one line for each command."""

from __future__ import annotations

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.language.tokens import tokenize
from kafka_shell.pasted.kafka_tools import translate
from kafka_shell.run.dispatch import is_valid

AT = "kafka-configs.sh --bootstrap-server h:9092 --alter --entity-type users --entity-name alice"


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ("--add-config 'SCRAM-SHA-256=[iterations=8192,password=pw1],consumer_byte_rate=1024'",
         ["scram-credentials --username alice --add 'SCRAM-SHA-256=[iterations=8192]'"
          " --broker h:9092",
          "alter-quotas consumer_byte_rate=1024 --user alice --broker h:9092"]),
        ("--add-config 'consumer_byte_rate=1024,SCRAM-SHA-512=[password=a\\],b]'",
         ["alter-quotas consumer_byte_rate=1024 --user alice --broker h:9092",
          "scram-credentials --username alice --add SCRAM-SHA-512 --broker h:9092"]),
        ("--add-config acks=-1,producer_byte_rate=5",
         ["alter-client-configs acks=-1 --user alice --broker h:9092",
          "alter-quotas producer_byte_rate=5 --user alice --broker h:9092"]),
        ("--add-config consumer_byte_rate=1024 --delete-config SCRAM-SHA-256,linger.ms",
         ["alter-quotas consumer_byte_rate=1024 --user alice --broker h:9092",
          "scram-credentials --username alice --delete SCRAM-SHA-256 --broker h:9092",
          "alter-client-configs --user alice --delete-config linger.ms --broker h:9092"]),
    ],
)  # fmt: skip
def test_each_line_works(changes: str, lines: list[str]) -> None:
    words = [word.text for word in tokenize(f"{AT} {changes}").words]
    found = translate(words, REGISTRY)
    assert found is not None and is_valid(found)
    assert found == " && ".join(lines)
