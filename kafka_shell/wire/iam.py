"""AWS_MSK_IAM: the login of Amazon MSK with a request signed by AWS credentials."""

from __future__ import annotations

import json
import re
import threading
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.text import quoted
from kafka_shell.wire.failures import unreachable

try:
    from botocore.auth import SigV4QueryAuth
    from botocore.awsrequest import AWSRequest
    from botocore.config import Config
    from botocore.credentials import (
        AssumeRoleCredentialFetcher,
        DeferredRefreshableCredentials,
        RefreshableCredentials,
    )
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.session import Session
except ImportError:
    raise missing_package("SASL AWS_MSK_IAM", "botocore", "msk") from None

_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_LIFETIME_S = 900  # as of AWS's own library
_TIMEOUT_S = 10.0  # of STS
_LOCK = threading.Lock()  # a session of botocore is not for several threads

Options = tuple[tuple[str, str], ...]
_RENEWING: dict[tuple[Options, str], tuple[Any, str]] = {}
"""Credentials that renew themselves before they expire, such as those of an assumed role."""


class Iam:
    """An exchange with the broker of a host. `options` are those of IAMLoginModule: a profile of
    the AWS tools, and a role to assume."""

    def __init__(self, host: str, options: Options) -> None:
        self._host, self._options, self._answer = host, options, b""
        self._done = False

    def auth_bytes(self) -> bytes:
        """The signed request. Raises ShellError."""
        return signed_request(self._host, self._options)

    def receive(self, answer: bytes) -> None:
        """Read the broker's answer, which is empty if it rejects the login."""
        self._answer, self._done = answer, True

    def is_done(self) -> bool:
        """Whether the broker answered."""
        return self._done

    def is_authenticated(self) -> bool:
        """Whether the broker confirmed the login."""
        return bool(self._answer)


def signed_request(host: str, options: Options) -> bytes:
    """The presigned request `kafka-cluster:Connect` (Signature Version 4) as JSON, which MSK's
    brokers send to AWS. Raises ShellError."""
    match = _REGION.search(host)
    try:
        with _LOCK:
            key = options, match[1] if match else ""
            credentials, default_region = known = _RENEWING.get(key) or _credentials(*key)
            if isinstance(credentials, RefreshableCredentials):
                _RENEWING[key] = known
            frozen = credentials.get_frozen_credentials() if credentials else None
    except (BotoCoreError, ClientError) as error:
        raise _failed(f"no AWS credentials: {quoted(str(error))}", options) from None
    region = match[1] if match else default_region
    if frozen is None:
        raise _failed("no AWS credentials were found", options)
    if not region:
        raise unreachable(
            f"cannot tell the AWS region of {host}", "Set AWS_REGION, or region in ~/.aws/config.",
            "sasl-token",
        )  # fmt: skip
    request = AWSRequest("GET", f"https://{host}/", params={"Action": "kafka-cluster:Connect"})
    SigV4QueryAuth(frozen, "kafka-cluster", region, expires=_LIFETIME_S).add_auth(request)
    signed = {name.lower(): value for name, value in parse_qsl(urlsplit(request.url).query)}
    return json.dumps(
        {"version": "2020_10_22", "host": host, "user-agent": "kafka-sh", **signed},
        separators=(",", ":"),
    ).encode()


def _credentials(options: Options, region: str) -> tuple[Any, str]:
    """The credentials (None if there are none), and the default region."""
    named = dict(options)
    session = Session(profile=named.get("awsProfileName") or None)
    default_region = session.get_config_variable("region") or ""
    credentials = session.get_credentials()
    role = named.get("awsRoleArn")
    if not role or credentials is None:
        return credentials, default_region

    def client(service: str, **keys: Any) -> Any:
        once = Config(
            connect_timeout=_TIMEOUT_S, read_timeout=_TIMEOUT_S,
            retries={"total_max_attempts": 1},
        )  # fmt: skip
        where = named.get("awsStsRegion") or region or default_region or "us-east-1"
        return session.create_client(service, region_name=where, config=once, **keys)

    request = {"RoleSessionName": named.get("awsRoleSessionName") or "kafka-sh"}
    if "awsRoleExternalId" in named:
        request["ExternalId"] = named["awsRoleExternalId"]
    fetcher = AssumeRoleCredentialFetcher(client, credentials, role, extra_args=request)
    return DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role"), default_region


def _failed(message: str, options: Options) -> ShellError:
    named = dict(options)
    profile, role = named.get("awsProfileName"), named.get("awsRoleArn")
    command = "aws sts get-caller-identity" + (f" --profile {profile}" if profile else "")
    by = f" (role {role})" if role else ""
    return unreachable(f"{message}{by}", f"Check that {command} works.", "sasl-token")
