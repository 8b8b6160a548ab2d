#!/usr/bin/env bash
# Installs this checkout with what its tests need into .venv, then runs lint, format, types and the
# tests: all three tiers, or those named.
#
#     scripts/check.sh
#     scripts/check.sh pure live
#     scripts/check.sh --explore pure    in random order and with new examples; the seed is printed
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE  # or each program that a test starts compiles its modules again

options=()
if [ "${1:-}" = --explore ]; then
  shift
  seed=${SEED:-$RANDOM}
  echo "seed: $seed (SEED=$seed repeats this run)"
  options=(-p randomly --randomly-seed "$seed" --hypothesis-seed "$seed" --hypothesis-profile explore)
fi
[ $# -gt 0 ] || set -- pure live system

[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
# The tests of logins with Kerberos need a KDC, and are skipped without one.
if command -v krb5kdc > /dev/null && command -v krb5-config > /dev/null; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[kerberos]' || true
fi
.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
for tier; do
  case $tier in
    pure | live) .venv/bin/python -m pytest "tests/$tier" -n 2 "${options[@]}" ;;
    # Of three workers on two cores, one usually waits for brokers that were killed or hang.
    system) .venv/bin/python scripts/rerun.py tests/system -n 3 "${options[@]}" ;;
    *)
      echo "scripts/check.sh: unknown tier '$tier' (expected pure, live or system)" >&2
      exit 2
      ;;
  esac
done
