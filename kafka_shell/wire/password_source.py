"""Passwords from the output of a command or from the system's keyring."""

from __future__ import annotations

from threading import Lock

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status, missing_package
from kafka_shell.base.plans import Secret
from kafka_shell.base.text import masked

_TIMEOUT_S = 60.0  # a password manager may ask its user first

# The prompt and its cache log in at the same time, but the user must be asked only once.
_reading = Lock()
_passwords: dict[tuple[PasswordSource, str], Secret] = {}


class PasswordSource(Struct, frozen=True):
    """A shell command that prints the password, or the service name in the keyring."""

    command: str = ""
    keyring: str = ""
    where: str = ""

    def __repr__(self) -> str:
        return f"PasswordSource({self.where})"  # the command itself may contain a secret

    def read(self, username: str) -> Secret:
        """The password. It is cached until a login fails. Raises ShellError."""
        with _reading:
            password = _passwords.get((self, username))
            if password is None:
                text = self._from_command() if self.command else self._from_keyring(username)
                password = _passwords[self, username] = Secret(text)
            return password

    def forget(self, username: str) -> None:
        """Remove the password from the cache."""
        _passwords.pop((self, username), None)

    def _from_command(self) -> str:
        import subprocess

        try:
            done = subprocess.run(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.DEVNULL,  # standard input may be a script
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._failed(f"timed out after {_TIMEOUT_S:g} s", "") from None
        errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if done.returncode:
            message = errors[0] if errors else ""
            raise self._failed(f"failed with exit status {done.returncode}", message)
        try:
            lines = done.stdout.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            raise self._failed("printed text that is not UTF-8", "") from None
        if not lines or not lines[0]:
            raise self._failed("printed no password", "")
        return lines[0]

    def _failed(self, how: str, message: str) -> ShellError:
        detail = f": {masked(message, '***')}" if message else ""
        return ShellError(
            f"{self.where}: password-command {how}{detail}",
            hint="Use a command that prints the password on the first line of standard output.",
            code="password-command",
            status=Status.UNREACHABLE,
        )

    def _from_keyring(self, username: str) -> str:
        try:
            import keyring
        except ImportError:
            raise missing_package(f"{self.where}: a keyring", "keyring", "keyring") from None
        try:
            password: str | None = keyring.get_password(self.keyring, username)
        except Exception as error:  # each backend has its own exceptions
            raise ShellError(
                f"{self.where}: the keyring cannot be read: {masked(str(error), '***')}",
                hint="Unlock it, or check it with: keyring diagnose",
                code="keyring",
                status=Status.UNREACHABLE,
            ) from None
        if not password:
            raise ShellError(
                f"{self.where}: the keyring has no password of user {username} for {self.keyring}",
                hint=f"Store it with: keyring set {self.keyring} {username}",
                code="keyring",
                status=Status.UNREACHABLE,
            )
        return password
