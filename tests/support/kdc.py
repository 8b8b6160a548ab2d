"""A real Kerberos KDC on this machine (MIT's krb5kdc), with a realm in a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.proxies import accepts, free_port
from tests.support.waiting import wait_for

REALM = "KAFKA.TEST"
TOOLS = ("krb5kdc", "kadmin.local", "kdb5_util", "kinit")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def missing() -> str:
    """Why there is no KDC here, or an empty string."""
    tools = [tool for tool in TOOLS if shutil.which(tool, path=_PATH) is None]
    try:
        import gssapi  # noqa: F401
    except ImportError:
        tools.append("the Python package gssapi")
    return f"not installed: {', '.join(tools)}" if tools else ""


@dataclass(frozen=True)
class Kdc:
    """A KDC. `config` is the value of KRB5_CONFIG for its clients."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "krb5.conf"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": _PATH,
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{self.folder}/no-tickets",
        }

    def run(self, *words: str, stdin: str = "", **environ: str) -> str:
        done = subprocess.run(
            words, input=stdin, env=self.environment | environ, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stderr}{done.stdout}"
        return done.stdout

    def principal(self, name: str, password: str = "") -> Path:
        """A new principal, and the path of its key table if it has no password."""
        key = ("-pw", password) if password else ("-randkey",)
        self.run("kadmin.local", "-r", REALM, "addprinc", *key, name)
        keytab = self.folder / f"{name.replace('/', '_')}.keytab"
        if not password:
            self.run("kadmin.local", "-r", REALM, "ktadd", "-k", str(keytab), name)
        return keytab


@contextmanager
def running_kdc(folder: Path) -> Iterator[Kdc]:
    """A KDC without principals."""
    port = free_port()
    kdc = Kdc(folder)
    kdc.config.write_text(
        f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n"
        " dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n"
        f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{port}\n }}\n"
    )
    (folder / "kdc.conf").write_text(
        f"[realms]\n {REALM} = {{\n  database_name = {folder}/principals\n"
        f"  key_stash_file = {folder}/stash\n  kdc_listen = 127.0.0.1:{port}\n"
        f"  kdc_tcp_listen = 127.0.0.1:{port}\n }}\n"
    )
    kdc.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
    process = subprocess.Popen(
        ["krb5kdc", "-n", "-r", REALM], env=kdc.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for("the KDC listens", lambda: accepts(port))
        yield kdc
    finally:
        process.kill()
        process.wait()
