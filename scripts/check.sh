#!/usr/bin/env bash
# Installs this checkout with what its tests need into .venv, then lint, format, types and tests.
# Arguments go to pytest: scripts/check.sh -m quick
#
# Three workers run files of tests: on two cores, one of them usually waits for brokers that were
# killed or hang. With four, tests of time-outs fail on a slow machine.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE  # or each program that a test starts compiles its modules again
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
exec .venv/bin/python -m pytest -n 3 "$@"
