"""Files that the user names, with limits; private files; the XDG folders."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, overload

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.structs import limited
from kafka_shell.base.text import quote
from kafka_shell.base.units import to_path

# Reading files that the user names, with size limits, and errors with file and line.
#
# Every error is a ShellError with exit status 2, raised before anything is sent.

_MIB = 1 << 20
MAX_SIZE = 128 * _MIB  # enough for a reassignment of a million partitions


def bad_file(
    file: object, what: str, *, hint: str = "", line: int | None = None, column: int | None = None
) -> ShellError:
    """The error of an invalid file."""
    where = ":".join(str(part) for part in (file, line, column) if part is not None)
    return ShellError(f"{where}: {what}", hint=hint, code="bad-file", status=Status.WRONG)


def read_bytes(path: Path, *, largest: int = MAX_SIZE) -> bytes:
    """The content of a file. Raises OSError, or ShellError if it has more than `largest` bytes."""
    with path.open("rb") as stream:
        data = stream.read(largest + 1)
    if len(data) > largest:
        size = f"{largest // _MIB} MiB" if largest >= _MIB else f"{largest // 1024} KiB"
        raise bad_file(path, f"is larger than {size}")
    return data


def read_text(file: str | Path, *, largest: int = MAX_SIZE) -> str:
    """The text of a UTF-8 file, without byte order mark."""
    path = to_path(file) if isinstance(file, str) else file
    try:
        data = read_bytes(path, largest=largest)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise bad_file(file, f"cannot be read: {getattr(error, 'strerror', error)}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise bad_file(file, "is not UTF-8 text", hint="Save it as UTF-8.", line=line) from None


def shipped_folder(name: str) -> Path:
    """A folder of files of the program: in the installed package, or in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "data" / name
    return inside if inside.is_dir() else package.parent / name


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text and the values of a TOML file."""
    import tomllib

    text = read_text(path)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        what = str(error)[: at.start()] if at else str(error)
        line = int(at[1]) if at and at[1] else text.count("\n") + 1
    except RecursionError:
        what, line = "nested too deeply", None
    raise bad_file(path, f"invalid TOML: {what}", hint='Use key = "value".', line=line)


def toml_line(text: str, table: str, key: str) -> int | None:
    """The line that sets a key of a table ("": above all tables); tomllib does not report it."""
    wanted, current = f"{table}.{key}" if table else key, ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("["):
            current = line.partition("#")[0].strip(" []").replace('"', "").replace("'", "")
        name = line.partition("=")[0].strip().replace('"', "").replace("'", "")
        dotted = f"{current}.{name}" if current else name
        if (current if line.startswith("[") else dotted) == wanted and line[:1] not in ("", "#"):
            return number
    return None


def read_json(file: str | Path) -> Any:
    """The value of a JSON file. A key that is set twice is an error."""
    import json

    text = read_text(file)
    try:
        return limited(json.loads(text, object_pairs_hook=_unique))
    except json.JSONDecodeError as error:
        what = f"not valid JSON: {error.msg} at column {error.colno}"
        raise bad_file(file, what, line=error.lineno) from None
    except RecursionError:
        raise bad_file(file, "not valid JSON: nested too deeply") from None
    except ValueError as error:  # a duplicate key, or a number with more than 4,300 digits
        raise bad_file(file, f"not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} is set twice")
    return values


def read_csv(file: str | Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file with their lines, without empty lines.

    A field with a line break is an error: its quote was probably not closed.
    """
    import csv

    rows = []
    reader = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
    line = 0
    try:
        for row in reader:
            first, line = line + 1, reader.line_num
            if first < line:
                raise bad_file(file, "a quote is not closed on its line", line=first)
            if row:
                rows.append((line, row))
    except csv.Error as error:
        at_end = "unexpected end of data" in str(error)
        what = "a quote is not closed" if at_end else f"not valid CSV: {error}"
        raise bad_file(file, what, line=line + 1) from None
    return rows


def read_table(file: str | Path) -> list[tuple[int, Mapping[str, str]]]:
    """The rows of a CSV file with a header line, by column name, with their lines."""
    rows = read_csv(file)
    if not rows:
        raise bad_file(file, "the file is empty: it must start with a line of column names")
    (first, header), *rest = rows
    names = [name.strip() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise bad_file(file, f"duplicate column {name[:60]!r}", line=first)
    for line, row in rest:
        if len(row) != len(names):
            what = f"{len(row)} fields, but the header has {len(names)} columns"
            raise bad_file(file, what, line=line)
    return [(line, dict(zip(names, row, strict=True))) for line, row in rest]


# Files and directories that only their owner may access, whatever the umask.

_FLAGS = {"w": os.O_TRUNC, "a": os.O_APPEND, "x": os.O_EXCL}


def private_folder(folder: Path) -> Path:
    """Create the directory and its parents with mode 0700 if they do not exist. Returns it."""
    # `mkdir(parents=True, mode=...)` creates the parents with the mode of the umask.
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)  # raises if it is a file
    return folder


def require_own(path: Path) -> None:
    """Raise ShellError (status 2) if another user owns the file or directory, or can write to it.
    As ssh, this follows a symbolic link, and trusts root. What does not exist is fine."""
    try:
        stat_result = path.stat()
    except OSError:  # who uses it reports that
        return
    if stat_result.st_uid not in (0, os.geteuid()):
        what, hint = "belongs to another user", "Remove it, or change its owner."
    elif stat_result.st_mode & 0o022:
        what, hint = "can be changed by other users", f"Run: chmod go-w {quote(str(path))}"
    else:
        return
    raise ShellError(f"{path} {what}", hint=hint, code="not-private", status=Status.WRONG)


@overload
def open_private(path: Path, mode: Literal["w", "a", "x"]) -> TextIO: ...
@overload
def open_private(path: Path, mode: Literal["wb", "xb"]) -> BinaryIO: ...
def open_private(path: Path, mode: str) -> TextIO | BinaryIO:
    """Open a file for writing with mode 0600, in a directory that is created with mode 0700. `mode`
    is "w", "a", or "x" for a file that must not exist. Raises OSError for a symbolic link."""
    private_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | _FLAGS[mode[0]]
    file = os.open(path, flags, 0o600)
    if os.fstat(file).st_mode & 0o077:  # it existed
        try:
            os.fchmod(file, 0o600)
        except OSError:  # it belongs to another user
            os.close(file)
            raise
    encoding = None if "b" in mode else "utf-8"
    return os.fdopen(file, mode, encoding=encoding)  # type: ignore[return-value]


@contextmanager
def locked(
    path: Path,
    *,
    wait: bool = True,
    on_wait: Callable[[], None] = lambda: None,
    shared: bool = False,
) -> Iterator[None]:
    """Hold the exclusive (or `shared`) lock of a file, which is created, until the block ends.
    If another process holds it, calls `on_wait`, or raises BlockingIOError if not `wait`. Only who
    holds it may remove the file: who waited for it locks the new one."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        with open_private(path, "a") as file:
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if not wait:
                    raise
                on_wait()
                fcntl.flock(file, kind)
            if _is_at(path, file):
                yield
                return


def _is_at(path: Path, file: TextIO) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def write_private(path: Path, content: str | bytes) -> None:
    """Write the file atomically with mode 0600, in a directory with mode 0700."""
    import tempfile

    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def replace_file(temporary: Path, path: Path, *, append: bool = False) -> None:
    """Replace the regular file at `path` by a private temporary file beside it, which gets the mode
    of the replaced file, or that of the umask. Copies into a file that has another owner or group
    or hard links, and with `append`."""
    import shutil

    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    current, own = path.stat(), temporary.stat()
    same = (current.st_uid, current.st_gid) == (own.st_uid, own.st_gid)
    if same and current.st_nlink == 1 and not append:
        temporary.chmod(stat.S_IMODE(current.st_mode))
        temporary.replace(path)
        return
    with temporary.open("rb") as source, path.open("ab" if append else "wb") as file:
        shutil.copyfileobj(source, file)
    temporary.unlink()


def replace_files(texts: Mapping[Path, str]) -> None:
    """Replace files at once, with the mode of the file before, or that of the umask: all are
    written beside theirs, under names that begin with a dot, before any is replaced. Raises OSError
    that names the file."""
    real = {path: path.resolve() for path in texts}  # keep symbolic links
    end = os.urandom(4).hex()
    temporary = {path: file.with_name(f".{file.name[:200]}.{end}") for path, file in real.items()}
    try:
        for path, text in texts.items():
            _check_replaceable(real[path])
            with open_private(temporary[path], "x") as file:
                file.write(text)
        for path in texts:
            replace_file(temporary[path], real[path])
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        for each in temporary.values():
            each.unlink(missing_ok=True)


def _check_replaceable(file: Path) -> None:
    """Raise OSError if there is a file that cannot be replaced."""
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    if file.exists() and not os.access(file, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def write_whole(path: Path, text: str) -> None:
    """Replace a file at once; write to what is not a regular file, such as /dev/stdout. Raises
    OSError."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
    else:
        replace_files({path: text})


# The XDG base directories of the user, also used on macOS.

_FOLDERS = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def xdg_folder(what: str, environ: Mapping[str, str]) -> Path:
    """The directory of kafka.sh for config, cache, data or state. Raises ShellError, status 2, if
    the user has no home directory."""
    variable, default = _FOLDERS[what]
    base = environ.get(variable, "")
    if not base.startswith("/"):  # the specification: a relative path is invalid
        try:
            return Path.home() / default / "kafka-sh"
        except RuntimeError:
            raise ShellError(
                "this user has no home directory",
                hint="Set HOME or KAFKA_SH_HOME to a directory.",
                code="no-home",
                status=Status.WRONG,
            ) from None
    return Path(base) / "kafka-sh"


# Java properties files.


def to_properties(settings: Mapping[str, str]) -> str:
    """Return the text of a Java properties file."""
    return "".join(f"{key}={escape(value)}\n" for key, value in settings.items())


def escape(value: str) -> str:
    """Escape a value for a Java properties file, which Java reads as ISO-8859-1."""
    return re.sub(r"[^ -~]|^ ", _code_units, value.replace("\\", "\\\\"))


def _code_units(match: re.Match[str]) -> str:
    return re.sub("....", r"\\u\g<0>", match[0].encode("utf-16-be", "surrogatepass").hex())
