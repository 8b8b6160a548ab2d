#!/usr/bin/env bash
# Installs this checkout with what its tests need into .venv, then lint, format, types and tests.
# Arguments go to pytest: scripts/check.sh -m quick
#
# Four workers run files of tests: on two cores, two of them usually wait for brokers that were
# killed or hang.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
exec .venv/bin/python -m pytest -n 4 "$@"
