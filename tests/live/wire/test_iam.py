"""AWS_MSK_IAM: the signed request, and the credentials that sign it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from kafka.net.sasl.msk import AwsMskIamClient

from kafka_shell.base.errors import ShellError
from kafka_shell.wire import iam
from kafka_shell.wire.client_properties import parse_properties, to_connection
from tests.support.missing_packages import run

pytest.importorskip("botocore")

HOST = "b-1.example.c2.kafka.eu-central-1.amazonaws.com"
ROLE = "arn:aws:iam::123456789012:role/kafka"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the AWS tools, without a region."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "credentials").write_text(
        "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = s1\n"
        "[audit]\naws_access_key_id = AKIAAUDIT\naws_secret_access_key = s2\n"
        "aws_session_token = tok/en==\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    iam._RENEWING.clear()


def signed(options: str = "", host: str = HOST) -> dict[str, str]:
    text = (
        "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\n"
        f"sasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required {options};\n"
    )
    sasl = to_connection(parse_properties(text, "client.properties")).sasl
    assert sasl is not None
    found: dict[str, str] = json.loads(iam.signed_request(host, sasl.options))
    return found


def expected(found: dict[str, str], key: str, secret: str, token: str = "") -> dict[str, str]:
    """The same request, as kafka-python signs it."""
    region = found["x-amz-credential"].split("/")[2]
    client = AwsMskIamClient(HOST, key, secret, region, token or None)
    client.timestamp = found["x-amz-date"]
    client.datestamp = client.timestamp[:8]
    message: dict[str, str] = json.loads(client.first_message())
    return message | {"user-agent": "kafka-sh"}


def test_request_is_signed_for_the_region_of_the_host() -> None:
    found = signed()
    assert found == expected(found, "AKIADEFAULT", "s1")
    assert "/eu-central-1/kafka-cluster/" in found["x-amz-credential"]
    when = datetime.strptime(found["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - when).total_seconds()) < 60


def test_profile_of_the_login_module() -> None:
    found = signed('awsProfileName="audit"')
    assert found == expected(found, "AKIAAUDIT", "s2", "tok/en==")


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("boot-ab12.c1.kafka-serverless.us-east-1.amazonaws.com", "us-east-1"),
        ("b-2.x.kafka.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("kafka.example.com", "sa-east-1"),
    ],
)
def test_region(host: str, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    assert signed(host=host)["x-amz-credential"].split("/")[2] == region


@contextmanager
def sts(answer: int = 200) -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    """Answers AssumeRole as AWS STS does."""
    requests: list[dict[str, list[str]]] = []

    class Sts(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            requests.append(parse_qs(body) | {"by": [self.headers["Authorization"]]})
            text = (
                "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
                "<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s3</SecretAccessKey>"
                "<SessionToken>role-token</SessionToken>"
                "<Expiration>2099-01-01T00:00:00Z</Expiration>"
                "</Credentials></AssumeRoleResult></AssumeRoleResponse>"
                if answer == 200 else
                "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error>"
                "</ErrorResponse>"
            )  # fmt: skip
            self.send_response(answer)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Sts) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


def test_role_is_assumed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    role = (
        f'awsProfileName="audit" awsRoleArn="{ROLE}" awsRoleSessionName="night"'
        ' awsStsRegion="us-west-2" awsRoleExternalId="x1"'
    )
    with sts() as (url, requests):
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        found = signed(role)
        assert found == expected(found, "ASIAROLE", "s3", "role-token")
        signed(role)
    (request,) = requests
    assert (request["RoleArn"], request["RoleSessionName"]) == ([ROLE], ["night"])
    assert request["ExternalId"] == ["x1"]
    assert "AKIAAUDIT" in request["by"][0]
    assert "/us-west-2/sts/" in request["by"][0]


def test_role_that_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    with sts(403) as (url, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        error = fails(f'awsRoleArn="{ROLE}"')
    assert "AccessDenied" in error.message
    assert error.message.endswith(f"(role {ROLE})")


def test_profile_that_does_not_exist() -> None:
    error = fails('awsProfileName="nobody"')
    assert "nobody" in error.message
    assert error.hint == "Check that aws sts get-caller-identity --profile nobody works."


def test_credentials_that_do_not_renew_are_read_for_each_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "later"))
    fails()
    (tmp_path / "later").write_text(
        "[default]\naws_access_key_id = AKIALATER\naws_secret_access_key = s4\n"
    )
    found = signed()
    assert found == expected(found, "AKIALATER", "s4")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    found = signed()
    assert found == expected(found, "AKIADEFAULT", "s1")


def test_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/none")
    assert fails().message == "no AWS credentials were found"


def test_host_without_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert fails(host="kafka.example.com").hint == "Set AWS_REGION, or region in ~/.aws/config."


def fails(options: str = "", host: str = HOST) -> ShellError:
    with pytest.raises(ShellError) as caught:
        signed(options, host)
    return caught.value


@pytest.mark.parametrize(
    ("package", "module", "extra"),
    [("botocore", "iam", "msk"), ("gssapi", "kerberos", "kerberos")],
)
def test_missing_package_is_named(tmp_path: Path, package: str, module: str, extra: str) -> None:
    code = (
        "from kafka_shell.base.errors import ShellError\n"
        f"try: import kafka_shell.wire.{module}\n"
        "except ShellError as error: print(error.message, error.hint)"
    )
    found = run(tmp_path, {package}, code=code).stdout
    assert f"requires the Python package {package}, which is not installed" in found
    assert f"pip install 'kafka-sh[{extra}]'" in found
