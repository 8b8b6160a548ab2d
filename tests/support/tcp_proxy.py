"""A TCP proxy in front of a real broker that can hold, delay and cut responses."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress
from types import TracebackType

_CHUNK = 1 << 16


class Proxy:
    """Takes connections at `address` and passes them on to a port of this machine.

    Set at any time: `delay` is how long each piece of an answer is held (seconds), `rate` how many
    bytes of answers pass a second (0: all), `cut_after` after how many more bytes of answers every
    connection is closed (None: never). `cut_answer(19, 2)` cuts the answer to the second request of
    that API key from then on.
    """

    def __init__(self) -> None:
        self.delay = 0.0
        self.rate = 0
        self.cut_after: int | None = None
        self.passed = 0
        self.target = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._awaited: tuple[int, int] | None = None  # API key, how many more of it
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """host:port"""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        self.hang_up()

    def cut_answer(self, api_key: int, nth: int) -> None:
        """Let only half of this answer through. Its asker has nothing else in flight."""
        self._awaited = (api_key, nth)

    def heal(self) -> None:
        """Pass everything on again."""
        self.delay, self.rate, self.cut_after, self._awaited = 0.0, 0, None, None

    def hang_up(self) -> None:
        """Close every connection."""
        with self._lock:
            sockets, self._open = self._open, set()
        for sock in sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                if self._server.fileno() < 0:
                    return
                near.close()  # the broker is down: so is the way to it
                continue
            with self._lock:
                self._open |= {near, far}
            for pump in (self._ask, self._answer):
                threading.Thread(target=pump, args=(near, far), daemon=True).start()

    def _ask(self, near: socket.socket, far: socket.socket) -> None:
        seen, ends = bytearray(), 0  # bytes of requests, and where the last whole one ends
        with suppress(OSError):
            while data := near.recv(_CHUNK):
                seen += data
                while len(seen) >= ends + 6:
                    size, api_key = struct.unpack_from(">ih", seen, ends)
                    ends += 4 + size
                    self._asked(api_key)
                far.sendall(data)
        self._end(near, far)

    def _asked(self, api_key: int) -> None:
        if self._awaited is None or self._awaited[0] != api_key:
            return
        self._awaited = (api_key, self._awaited[1] - 1)
        if not self._awaited[1]:
            self.cut_after, self._awaited = 30, None

    def _answer(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError):
            while data := far.recv(min(_CHUNK, self.rate // 10 or _CHUNK)):
                self._hold()
                if self.rate:
                    time.sleep(len(data) / self.rate)
                if self.cut_after is not None and len(data) >= self.cut_after:
                    near.sendall(data[: self.cut_after])
                    self.cut_after = None
                    self.hang_up()
                    return
                if self.cut_after is not None:
                    self.cut_after -= len(data)
                near.sendall(data)
                self.passed += len(data)
        self._end(near, far)

    def _hold(self) -> None:
        """As long as `delay` says, also where it is changed meanwhile."""
        began = time.monotonic()
        while time.monotonic() < began + self.delay:
            time.sleep(0.01)

    def _end(self, *sockets: socket.socket) -> None:
        for sock in sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
            with self._lock:
                self._open.discard(sock)
