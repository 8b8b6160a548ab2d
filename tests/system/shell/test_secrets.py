"""After a session with every secret that a command accepts, none is in a file, the history or a
suggestion."""

from __future__ import annotations

from pathlib import Path

from tests.support.terminal import Open

HUSH = "zebra{}hush"
_USER = "config-command --alter --entity-type users --entity-name u1"
LINES = (
    f"{_USER} --add-config SCRAM-SHA-256=[password={{}}]",
    f"{_USER} --add-config SCRAM-SHA-512={{}}",
    f"{_USER} --add-config SCRAM-SHA256={{}}",
    "scram-credentials --yes --user u1 --add SCRAM-SHA-256=[iterations=8192,password={}]",
    "scram-credentials --user u1 --add SCRAM-SHA-999=[password={}]",
    "alter-configs --broker-default --yes my.plugin.secret={}",
    "alter-configs --broker-default --yes my.plugin.api-key={}",
    "alter-configs --broker-default --yes my.plugin.whatever={}",
    "alter-configs --broker-id 1 --yes listener.name.external.ssl.keystore.password={}",
    "alter-configs --broker-id 1 --yes 'listener.name.x.sasl.jaas.config=X password=\"{}\";'",
    "alter-configs shell.orders retention.ms=1d password={}",
    "renew-token --hmac {}",
    "expire-token --hmac {}",
    "topics --adminclient-property ssl.key.password={}",
    "topics --adminclient-property sasl.oauthbearer.client.credentials.client.secret={}",
    "topcis --password {}",
)  # fmt: skip
KEPT = "describe-topic shell.orders"


def test_no_secret_is_kept_anywhere(open_terminal: Open, bootstrap: str, tmp_path: Path) -> None:
    shell = open_terminal("--broker", bootstrap, columns=160)
    shell.sees("1 broker", "as of")
    shell.run(KEPT)
    shell.at_prompt()
    for number, line in enumerate(LINES):
        shell.run(line.format(HUSH.format(number)))
        shell.until(lambda: shell.text.count("kafka>") > 0)
        shell.at_prompt()
        assert "password:" not in shell.line.lower()
        shell.run("clear")
        shell.misses(HUSH.format(number))
        shell.at_prompt()
    shell.press("up", "up")
    shell.until(lambda: shell.line.endswith(KEPT), "the line before, with Up")
    shell.press("c-u")
    for line in LINES:
        begin = line[:12].rstrip()
        shell.type(begin)
        shell.until(lambda begin=begin: begin in shell.line)
        assert "hush" not in shell.text
        shell.press("c-c")
        shell.at_prompt()
    shell.press("c-d")
    shell.ends()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"history", "journal"} <= {part for path in written for part in path.parts}
    for path in written:
        content = path.read_bytes()
        for number, line in enumerate(LINES):
            assert HUSH.format(number).encode() not in content, (path, line)
        assert path.stat().st_mode & 0o077 == 0, path
