"""kafka.sh as an application of spark-submit, for schedulers: the words after it are those of a
command line.

    spark-submit --master spark://host:7077 submit.py --profile prod spark audit --output json
"""

from __future__ import annotations

import sys
from pathlib import Path


def run() -> int:
    """Run the command line in the session of spark-submit; the exit status is the command's."""
    folder = str(Path(__file__).parent)
    sys.path[:] = [entry for entry in sys.path if entry != folder]  # its modules are not top-level
    from kafka_shell.app import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
