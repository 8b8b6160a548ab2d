"""Settings: the precedence of their sources, and errors in their files."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.settings import Settings, kept_from, load
from kafka_shell.wire.client_properties import (
    Property,
    is_secret,
    parse_jaas,
    parse_properties,
)
from kafka_shell.wire.endpoint import Address, parse_addresses, parse_via
from kafka_shell.wire.oauth import bearer_token

JAAS = "org.apache.kafka.common.security"
PLAIN = f'{JAAS}.plain.PlainLoginModule required username="al" password="s3cret";'
SCRAM = f'{JAAS}.scram.ScramLoginModule required username="al" password="s3cret";'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def wrong(**where: object) -> ShellError:
    """The error of loading these, which is never a secret's leak."""
    with pytest.raises(ShellError) as caught:
        loaded(**where)
    assert caught.value.status is Status.WRONG
    assert "s3cret" not in f"{caught.value.message}{caught.value.hint}"
    return caught.value


def loaded(
    flags: dict[str, object] | None = None,
    environ: dict[str, str] | None = None,
    config: Path = Path("/nowhere/config.toml"),
    text: str | None = None,
) -> Settings:
    if text is not None:
        config.write_text(text)
    return load(flags or {}, environ or {}, config)


def properties(tmp_path: Path, text: str) -> dict[str, object]:
    path = tmp_path / "client.properties"
    path.write_text(text)
    return {"command-config": str(path)}


def test_the_default_is_localhost() -> None:
    found = loaded()
    assert found.connection.bootstrap == (Address("localhost", 9092),)
    assert (found.profile, found.guard, found.cluster_name) == ("", "", "localhost:9092")
    assert {row.source for row in found.describe()} == {"default"}


def test_several_servers_are_named_by_the_first() -> None:
    assert loaded({"broker": "a:1,b:2,c:3"}).cluster_name == "a:1,..."


def test_flag_over_environment_over_profile_over_properties(config: Path, tmp_path: Path) -> None:
    (tmp_path / "java.properties").write_text("bootstrap.servers=java:1\nclient.id=java\n")
    config.write_text(
        'default = "dev"\n[profiles.dev]\ncommand-config = "java.properties"\n'
        'bootstrap = "profile:2"\n'
    )
    at = {"KAFKA_SH_BROKER": "environment:3"}
    flag = {"broker": "flag:4"}
    profile = {"profile": "dev"}
    assert loaded({**flag, **profile}, at, config).cluster_name == "flag:4"
    assert loaded({**flag, **profile}, at, config).connection.bootstrap[0].host == "flag"
    both = {**at, "KAFKA_SH_PROFILE": "dev"}
    assert loaded({}, both, config).connection.bootstrap[0].host == "environment"
    assert loaded(profile, {}, config).connection.bootstrap[0].host == "profile"
    config.write_text('[profiles.dev]\ncommand-config = "java.properties"\n')
    found = loaded(profile, {}, config)
    assert found.connection.bootstrap[0].host == "java"
    assert found.connection.client_id == "java"
    assert found.sources["bootstrap.servers"].source == f"{tmp_path / 'java.properties'}:1"


def test_values_have_their_line(config: Path) -> None:
    found = loaded(
        config=config, text='default = "dev"\n\n[profiles.dev]\nbootstrap = "a:1"\nguard="typed"\n'
    )
    assert found.sources["guard"].source == f"{config}:5"
    assert found.sources["bootstrap.servers"].source == f"{config}:4"
    assert found.sources["profile"].source == "default"


def test_the_default_profile_is_not_used_if_a_cluster_is_named(config: Path) -> None:
    """One cluster's password is not for another."""
    text = (
        'default = "prod"\n[profiles.prod]\nbootstrap = "prod:1"\nguard = "read-only"\n'
        f'"security.protocol" = "SASL_PLAINTEXT"\n"sasl.jaas.config" = \'{PLAIN}\'\n'
    )
    prod = loaded(config=config, text=text)
    assert prod.guard == "read-only"
    assert prod.connection.sasl is not None
    for found in (
        loaded({"broker": "other:9"}, {}, config),
        loaded({}, {"KAFKA_SH_BROKER": "other:9"}, config),
        loaded({"broker": "other:9"}, {"KAFKA_SH_PROFILE": "prod"}, config),
        loaded(
            {"adminclient-property": ("bootstrap.servers=other:9",)},
            {"KAFKA_SH_PROFILE": "prod"},
            config,
        ),
    ):
        assert found.connection.bootstrap == (Address("other", 9),)
        assert found.profile == ""
        assert found.connection.sasl is None
    (warning,) = found.warnings
    assert "KAFKA_SH_PROFILE is ignored: --adminclient-property selects" in warning


def test_the_file_of_a_flag_overrides_a_profile(config: Path, tmp_path: Path) -> None:
    flags = properties(tmp_path, "client.id=file\n")
    text = 'default = "dev"\n[profiles.dev]\nbootstrap = "a:1"\n"client.id" = "profile"\n'
    found = loaded(flags, {}, config, text)
    assert found.connection.client_id == "file"
    assert found.connection.bootstrap == (Address("a", 1),)


def test_single_properties_and_their_two_spellings() -> None:
    pairs = ("client.id=a=b", ("request.timeout.ms", "1500"))
    found = loaded({"adminclient-property": list(pairs)})
    assert found.connection.client_id == "a=b"
    assert found.connection.request_timeout == 1.5


def test_java_names_without_quotes(config: Path) -> None:
    text = 'default="d"\n[profiles.d]\nbootstrap="b:1"\n'
    text += 'client.id = "x"\nrequest.timeout.ms = 2000\n'
    found = loaded(config=config, text=text)
    assert (found.connection.client_id, found.connection.request_timeout) == ("x", 2.0)


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    flags = properties(
        tmp_path,
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={PLAIN}",
    )
    found = loaded(flags)
    assert found.connection.sasl is not None
    assert found.connection.sasl.password == Secret("s3cret")
    assert "s3cret" not in repr(found)
    assert "s3cret" not in repr(found.describe())
    assert is_secret("ssl.key.password")
    assert is_secret("sasl.oauthbearer.assertion.private.key.passphrase")
    assert not is_secret("client.id")


@pytest.mark.parametrize(
    ("text", "line", "what", "hint"),
    [
        ('default = "dev\n', 1, "invalid TOML", "key ="),
        ("[profiles.dev\n", 1, "invalid TOML", "key ="),
        ('[profiles.dev]\nbootstrp = "a:1"\n', 2, "bootstrp", "bootstrap"),
        ('[profiles.dev]\nbootstrap = "a:1"\nguard = "tiped"\n', 3, "guard is 'tiped'", "typed"),
        ('defalt = "dev"\n', 1, "defalt", "default"),
        ('default = "dve"\n[profiles.dev]\n', 1, "profile dve does not exist", "dev"),
        ("[profiles.dev]\nbootstrap = [1, 2]\n", 2, "bootstrap is a list", "string"),
        ('[profiles.dev]\nbootstrap = "a:port"\n', 2, "got 'port'", "host:port"),
        ('[profiles.dev]\n"security.protocol" = "TLS"\n', 2, "TLS", "SASL_SSL"),
        ('[profiles.dev]\ncommand-config = "gone.properties"\n', 2, "No such file", ".properties"),
        ("profiles = 3\n", 1, "must be a table", "profiles.NAME"),
        ("output = 'html'\n", 1, "output is 'html'", "json"),
    ],
)
def test_a_broken_config_file_names_line_and_expectation(
    config: Path, text: str, line: int, what: str, hint: str
) -> None:
    flags: dict[str, object] = {} if "default" in text else {"profile": "dev"}
    error = wrong(flags=flags, config=config, text=text)
    assert f"{config}:{line}: " in error.message
    assert what in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("client.id=x\nsecurity.protocol\n", 2, "not a setting"),
        ("a=\\u12g4\n", 1, "four hexadecimal digits"),
        ("# c\n\nsecurity.protocol=SASL\n", 3, "security.protocol=SASL"),
        ("request.timeout.ms=30s\n", 1, "must be a number of milliseconds"),
        ("bootstrap.servers=::1\n", 1, "brackets"),
        ("security.protocol=SSL\nssl.enabled.protocols=TLSv1\n", 2, "no secure TLS version"),
        ("security.protocol=SSL\nssl.truststore.location=/nope.pem\n", 2, "No such file"),
        (f"security.protocol=SASL_SSL\nsasl.jaas.config={SCRAM}\n", 2, "sasl.mechanism is not"),
        (f"security.protocol=SASL_SSL\nsasl.jaas.config={PLAIN[:-1]}\n", 2, "semicolon"),
        ("security.protocol=SASL_SSL\nsasl.jaas.config=s3cret;\n", 2, "login module"),
        (f"security.protocol=SASL_SSL\nsasl.jaas.config={JAAS}.X required s3cret;\n", 2, "option"),
    ],
)
def test_broken_properties_name_line_and_expectation(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    error = wrong(flags=properties(tmp_path, text))
    assert f"client.properties:{line}: " in error.message
    assert what in error.message
    assert error.hint


def test_no_such_properties_file(tmp_path: Path) -> None:
    error = wrong(flags={"command-config": str(tmp_path / "gone")})
    assert error.message.startswith("--command-config: ")


def test_an_unknown_profile_has_a_suggestion(config: Path) -> None:
    error = wrong(flags={"profile": "stagign"}, config=config, text="[profiles.staging]\n")
    assert error.hint == "Did you mean staging?"


def test_a_near_miss_of_a_client_property_is_a_warning(tmp_path: Path) -> None:
    text = "securty.protocol=SSL\nlinger.ms=5\nsasl.mechanisms=PLAIN\nmy.own.plugin=1\n"
    warnings = loaded(properties(tmp_path, text)).warnings
    assert len(warnings) == 2
    assert "client.properties:1: unknown client property securty.protocol" in warnings[0]
    assert warnings[1].endswith("sasl.mechanism?")


def test_an_unused_login_is_a_warning(tmp_path: Path) -> None:
    (warning,) = loaded(properties(tmp_path, "sasl.mechanism=PLAIN\n")).warnings
    assert "security.protocol is PLAINTEXT" in warning


def test_store_of_another_type_is_named(tmp_path: Path) -> None:
    store = tmp_path / "store.bin"
    text = f"security.protocol=SSL\nssl.truststore.location={store}\n"
    store.write_bytes(b"MZ")
    error = wrong(flags=properties(tmp_path, text))
    assert f"{store} is neither a PEM file nor a JKS or PKCS12 store" in error.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("socks5://user:p%2Fw@[::1]:1", "socks5://[::1]:1"),
        ("http://Proxy", "http://proxy:8080"),
        ("ssh://me@bastion", "ssh://bastion"),
        ("ssh://-oProxyCommand=x", ""),
        ("ssh://me:secret@bastion", ""),
        ("socks5://user:12/ss@host", ""),
        ("https://proxy", ""),
        ("proxy:1080", ""),
    ],
)
def test_url_of_a_proxy(url: str, shown: str) -> None:
    if shown:
        assert str(parse_via(url)) == shown
        return
    with pytest.raises(UsageError, match="via is not the URL of a proxy"):
        parse_via(url)


def test_a_store_that_is_not_used_is_not_read(tmp_path: Path) -> None:
    text = "security.protocol=PLAINTEXT\nssl.truststore.location=/nope.jks\n"
    assert loaded(properties(tmp_path, text)).connection.security_protocol == "PLAINTEXT"


def test_pem_in_the_properties_themselves(tmp_path: Path) -> None:
    text = (
        "security.protocol=ssl\nssl.truststore.type=PEM\nssl.truststore.certificates=CA\\nTEXT\n"
        "ssl.keystore.certificate.chain=CHAIN\nssl.keystore.key=s3cret\nssl.key.password=s3cret\n"
        "ssl.endpoint.identification.algorithm=\nssl.enabled.protocols=TLSv1.3\n"
    )
    tls = loaded(properties(tmp_path, text)).connection.tls
    assert (tls.ca_text, tls.certificate_text, tls.key_text) == (
        "CA\nTEXT",
        "CHAIN",
        Secret("s3cret"),
    )
    assert (tls.check_hostname, tls.minimum_version) == (False, "TLSv1.3")
    assert "s3cret" not in repr(tls)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),
        ("a: b", {"a": "b"}),
        ("a b c", {"a": "b c"}),
        ("  a\t=\tb", {"a": "b"}),
        ("a=", {"a": ""}),
        ("! no\n# no\na=b=c", {"a": "b=c"}),
        ("a=b,\\\n   c,\\\n   d\ne=f", {"a": "b,c,d", "e": "f"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\=b\\:c\\ d=e", {"a=b:c d": "e"}),
        ("a=\\u00e9\\t\\n\\q", {"a": "é\t\nq"}),
        ("a=\\ud83d\\ude00", {"a": "\U0001f600"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("", {}),
    ],
)
def test_java_s_rules(text: str, expected: dict[str, str]) -> None:
    assert {k: v.value for k, v in parse_properties(text, "f").items()} == expected


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1), st.text(st.characters(codec="utf-8"))
    )
)
def test_escapes_are_resolved(values: dict[str, str]) -> None:
    def escape(text: str) -> str:
        units = text.encode("utf-16-be")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

    text = "".join(f"{escape(key)}={escape(value)}\n" for key, value in values.items())
    assert {k: v.value for k, v in parse_properties(text, "f").items()} == values


@given(st.text())
def test_any_text_is_parsed_or_has_an_error_with_its_line(text: str) -> None:
    try:
        parse_properties(text, "f")
    except ShellError as error:
        assert error.message.startswith("f:")


def test_latin_1_is_read_as_java_does(tmp_path: Path) -> None:
    path = tmp_path / "latin.properties"
    path.write_bytes(b"client.id=caf\xe9\n")
    assert loaded({"command-config": str(path)}).connection.client_id == "café"


def test_jaas_options_and_their_quotes() -> None:
    text = f'{JAAS}.X required\n a="x;\\"y\\"" b=\'it\' c=plain ;'
    jaas = parse_jaas(Property(text, "f:1"))
    assert (jaas.module, jaas.options) == ("X", {"a": 'x;"y"', "b": "it", "c": "plain"})
    assert "plain" not in repr(jaas)


def test_an_unsecured_token_has_the_claims(tmp_path: Path) -> None:
    login = (
        f'{JAAS}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="al" '
        'unsecuredLoginListClaim_scope=",a,b" unsecuredLoginNumberClaim_x="2";'
    )
    text = f"security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config={login}\n"
    connection = loaded(properties(tmp_path, text)).connection
    assert connection.sasl is not None
    header, body, signature = bearer_token(connection.sasl, connection).reveal().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "none"}
    assert (claims["sub"], claims["scope"], claims["x"], signature) == ("al", ["a", "b"], 2.0, "")


def test_a_token_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    text = (
        "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.oauthbearer.token.endpoint.url=file://{tmp_path}/token\n"
    )
    connection = loaded(properties(tmp_path, text)).connection
    assert connection.sasl is not None
    assert bearer_token(connection.sasl, connection) == Secret("s3cret")


def test_a_missing_token_is_an_error(tmp_path: Path) -> None:
    text = "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
    connection = loaded(properties(tmp_path, text)).connection
    assert connection.sasl is not None
    with pytest.raises(ShellError, match="requires a token") as caught:
        bearer_token(connection.sasl, connection)
    assert caught.value.status is Status.UNREACHABLE


def test_addresses() -> None:
    found = parse_addresses("a, b:1,[::1]:2,[fe80::1],PLAINTEXT://c:3")
    assert [str(each) for each in found] == ["a:9092", "b:1", "[::1]:2", "[fe80::1]:9092", "c:3"]


@pytest.mark.parametrize("text", ["", ",", "a:b", "a:0", "a:65536", "::1:9092", "[::1", ":9092"])
def test_invalid_addresses(text: str) -> None:
    with pytest.raises(UsageError):
        parse_addresses(text)


def test_settings_of_this_session_have_that_source(config: Path) -> None:
    changed = replace(loaded(config=config, text=""), theme="mono", output="json")
    rows = {row.name: (row.value, row.source) for row in changed.describe()}
    assert rows["theme"] == ("mono", "this session")
    assert rows["output"] == ("json", "this session")
    assert rows["pager"] == ("2", "default")


def test_what_a_session_has_changed_is_kept_when_it_connects(config: Path) -> None:
    before = loaded(config=config, text='theme = "midnight"\n')
    other = replace(before, theme="parchment", output="table")
    assert kept_from(before, other) == other
    changed = replace(before, theme="mono", output="json", pager="off", refresh="10s")
    changed = replace(changed, editing_mode="vi")
    kept = kept_from(changed, other)
    assert (kept.theme, kept.output, kept.pager, kept.editing_mode) == ("mono", "json", "off", "vi")
    assert kept.refresh == "10s"


def test_a_command_for_another_session_names_the_cluster(config: Path) -> None:
    text = '[profiles.prod]\nbootstrap = "a:1"\n'
    prod = loaded({"profile": "prod"}, config=config, text=text)
    assert prod.connecting("health") == "health --profile prod"
    moved = loaded({"profile": "prod", "broker": "b:2"}, config=config, text=text)
    assert moved.connecting("health") == "health --profile prod --broker b:2"
    named = loaded({"broker": "b:2,c:3"}, config=config)
    assert named.connecting("health") == "health --broker b:2,c:3"
    assert named.connecting("health --broker b:2") == "health --broker b:2"
    of_a_broker = "describe-log-dirs orders --broker-id 1"
    assert named.connecting(of_a_broker) == f"{of_a_broker} --broker b:2,c:3"
    assert named.connecting("") == ""
    file = config.with_name("client.properties")
    file.write_text("client.id=x\n")
    secure = loaded({"broker": "b:2", "command-config": str(file)}, config=config)
    assert secure.connecting("health") == f"health --broker b:2 --command-config {file}"


@pytest.mark.parametrize(
    "misplaced",
    [
        'mask = ["key"]',
        '[profiles.p.mask]\n"a.*" = ["key"]',
        '[profiles.p.topic."a"]\nmask = "key"',
        '[profiles.p."customers.*"]\nmask = ["value.email"]',
        '[profiles.p.customers]\nmask = "key"',
        '[profiles.p.records."customers.*"]\nmask = "key"',
        '[profiles.p.pii]\nmask = "key"',
        '[profiles.p.data.x]\nkey-format = "avro"',
        '[profiles.p.customers]\nmasks = "key"',
        'mask-fields = "key"',
        '[profiles.p.mask-fields]\n"a" = "key"',
    ],
)
def test_misplaced_mask_is_no_client_property(tmp_path: Path, misplaced: str) -> None:
    text = f'default = "p"\n[profiles.p]\nbootstrap = "a:1"\n{misplaced}\n'
    with pytest.raises(ShellError) as refused:
        loaded(config=tmp_path / "config.toml", text=text)
    assert "topics" in refused.value.hint


def test_other_client_properties_are_none_of_topics(tmp_path: Path) -> None:
    text = '[profiles.p]\nbootstrap = "a:1"\n"metadata.max.age.ms" = "1"\n"x.schema.y" = "1"\n'
    assert loaded({"profile": "p"}, config=tmp_path / "config.toml", text=text).profile == "p"
