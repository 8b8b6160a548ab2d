#!/usr/bin/env bash
# Installs this checkout with what its tests need into .venv, then lint, format, types and tests.
# Arguments go to pytest: scripts/check.sh -m quick
#
# Two workers run the tests in a random order. The same order again: --randomly-seed with the number
# that pytest shows at its start.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
exec .venv/bin/python -m pytest -n 2 "$@"
