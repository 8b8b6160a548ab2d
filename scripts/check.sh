#!/usr/bin/env bash
# Installs this checkout with what its tests need into .venv, then lint, format, types and tests.
# Arguments go to pytest: scripts/check.sh -m quick
#
# Three workers run files of tests: on two cores, one of them usually waits for brokers that were
# killed. Some tests measure time, and a crowded machine can spoil that: what fails is run once more
# with the machine to itself, and that verdict counts. Both are shown.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
status=0
.venv/bin/python -m pytest -n 3 "$@" || status=$?
[ "$status" -eq 1 ] || exit "$status"
exec .venv/bin/python -m pytest --last-failed --last-failed-no-failures none
