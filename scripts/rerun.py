"""Runs pytest with these arguments, then each test that failed once more, alone and on a new
cluster. Exits with 0 if all of them pass then, and reports them under RERUN: each is a bug."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

PYTEST = (sys.executable, "-m", "pytest")
FAILED = 1  # pytest's exit status if tests failed


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        status = subprocess.run(
            [*PYTEST, *arguments, f"--junitxml={report}"], check=False
        ).returncode
        if status != FAILED:
            return status
        failed = failures(report)
    again = {test: subprocess.run([*PYTEST, test], capture_output=True, text=True, check=False)
             for test in failed}  # fmt: skip
    for test, run in again.items():
        print(f"\nRERUN {'failed' if run.returncode else 'passed'}: {test}")
        print(f"-- first run\n{failed[test]}\n-- alone\n{run.stdout}{run.stderr}")
    lost = [test for test, run in again.items() if run.returncode]
    print(f"RERUN: {len(again) - len(lost)} passed, {len(lost)} failed", flush=True)
    return FAILED if lost or not again else 0


def failures(report: Path) -> dict[str, str]:
    """Return what each failed test of a JUnit report printed, by the test's ID."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        texts = [part.text or "" for part in case if part.tag in ("failure", "error")]
        if texts:
            file = case.attrib["classname"].replace(".", "/")
            found[f"{file}.py::{case.attrib['name']}"] = "\n".join(texts)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
