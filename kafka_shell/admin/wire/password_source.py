"""Passwords that are not written down: the output of a command, or the system's keyring."""

from __future__ import annotations

from threading import Lock

from msgspec import Struct

from kafka_shell.errors import ShellError, Status
from kafka_shell.masking import masked
from kafka_shell.plan.model import Secret

_PATIENCE_S = 60.0  # for a password manager that asks its user first

# The prompt and its cache log in at once: the user must not be asked twice.
_reading = Lock()
_known: dict[tuple[PasswordSource, str], Secret] = {}


class PasswordSource(Struct, frozen=True):
    """A shell command that prints the password, or the service it is kept under in the keyring."""

    command: str = ""
    keyring: str = ""
    where: str = ""

    def __repr__(self) -> str:
        return f"PasswordSource({self.where})"  # a command may hold a secret itself

    def read(self, username: str) -> Secret:
        """The password, kept until a login with it fails. Raises ShellError."""
        with _reading:
            found = _known.get((self, username))
            if found is None:
                text = self._from_command() if self.command else self._from_keyring(username)
                found = _known[self, username] = Secret(text)
            return found

    def forget(self, username: str) -> None:
        """Read it again for the next login."""
        _known.pop((self, username), None)

    def _from_command(self) -> str:
        import subprocess

        try:
            done = subprocess.run(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.DEVNULL,  # ours may be a script
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._failed(f"did not end within {_PATIENCE_S:g} s", "") from None
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if done.returncode:
            raise self._failed(f"ended with exit status {done.returncode}", said[0] if said else "")
        try:
            lines = done.stdout.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            raise self._failed("printed something that is not UTF-8", "") from None
        if not lines or not lines[0]:
            raise self._failed("printed no password", "")
        return lines[0]

    def _failed(self, how: str, said: str) -> ShellError:
        return ShellError(
            f"{self.where}: password-command {how}" + (f": {masked(said, '***')}" if said else ""),
            hint="It must print the password on the first line of standard output.",
            code="password-command",
            status=Status.UNREACHABLE,
        )

    def _from_keyring(self, username: str) -> str:
        try:
            import keyring
        except ImportError:
            raise ShellError(
                f"{self.where}: the keyring package is not installed",
                hint="Install it: pip install 'kafka-sh[keyring]'",
                code="no-keyring",
                status=Status.WRONG,
            ) from None
        try:
            found: str | None = keyring.get_password(self.keyring, username)
        except Exception as error:  # each backend has errors of its own
            raise ShellError(
                f"{self.where}: the keyring cannot be read: {masked(str(error), '***')}",
                hint="Unlock it, or check it with: keyring diagnose",
                code="keyring",
                status=Status.UNREACHABLE,
            ) from None
        if not found:
            raise ShellError(
                f"{self.where}: the keyring has no password of {username} for {self.keyring}",
                hint=f"Store it: keyring set {self.keyring} {username}",
                code="keyring",
                status=Status.UNREACHABLE,
            )
        return found
