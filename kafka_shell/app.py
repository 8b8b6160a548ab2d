"""The entry point: answers what needs no cluster at once, and reports what fails."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from kafka_shell import __version__
from kafka_shell.base.errors import ShellError, Status

# The threshold of the garbage collector. With the default, 700, it runs dozens of times during the
# imports of a command, which takes a tenth of the time. One command leaves little to collect.
_GC_THRESHOLD = 300_000

_SHELLS = ("bash", "zsh", "fish")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return the exit status."""
    gc.set_threshold(_GC_THRESHOLD)
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    status = _guarded(words)
    gc.freeze()  # skips garbage collection at exit
    try:
        sys.stderr.flush()
    except OSError:  # a full disk would change the exit status
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    return status


def _guarded(words: list[str]) -> int:
    try:
        status = int(_main(words))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return int(Status.INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout has exited; this prevents an error message at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return int(Status.OK)
    except ShellError as error:
        from kafka_shell.start import report_early

        return int(report_early(error, " ".join(words)))
    except Exception as error:
        from kafka_shell.context import Paths
        from kafka_shell.crash import report_crash

        return int(report_crash(error, Paths.of(os.environ), sys.stderr))


def _open_closed_streams() -> None:
    """Open closed standard streams (`>&-`), so that sockets do not get their descriptors.

    Writing to a closed standard output still fails.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _main(words: list[str]) -> Status:
    if os.environ.get("KAFKA_SH_COMPLETE"):
        from kafka_shell.run.completion import candidate_lines

        sys.stdout.write(candidate_lines(words, os.environ))
        return Status.OK
    if words == ["--version"]:  # before the imports that it does not need
        sys.stdout.write(f"kafka.sh {__version__}\n")
        return Status.OK
    if len(words) == 2 and words[0] == "--completion" and words[1] in _SHELLS:
        from kafka_shell.run.completion_scripts import SCRIPTS

        sys.stdout.write(SCRIPTS[words[1]])
        return Status.OK
    from kafka_shell.start import start

    return start(words)
