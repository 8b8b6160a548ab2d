"""A proxy in front of a real broker that corrupts some responses."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from contextlib import suppress
from random import Random

from tests.support.tcp_proxy import Proxy

_NAMING_BROKERS = (3, 10, 60)  # Metadata, FindCoordinator, DescribeCluster
_HEAD = 8  # size and correlation id
_WAYS = (
    "flip", "flip", "flip", "number", "number", "cut", "cut", "insert", "remove", "zeros", "ones",
    "noise", "repeat", "size", "identity",
)  # fmt: skip
_NUMBERS = (
    b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\xff" * 4, b"\xff" * 9, b"\x80" * 3000,
    b"\xff\xff\xff\xff\x07", b"\x7f" + b"\xff" * 7,
)  # fmt: skip


class MutatingProxy(Proxy):
    """Spoils answers of the conversation that `begin` begins. Brokers are advertised as the proxy,
    so that what is sent to one broker by its id goes through it too."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.target = port
        self._random = Random(0)
        self._spoil: set[int] = set()
        self._answers = 0
        self.spoiled: list[str] = []
        self._asked_for: dict[socket.socket, deque[int]] = {}
        self._counting = threading.Lock()

    def begin(self, seed: object) -> None:
        """The answers of what follows are spoiled as the seed says, one or two of the first six."""
        self.hang_up()
        with self._counting:
            self._random = Random(str(seed))
            self._spoil = {self._random.randrange(6) for _ in range(self._random.choice((1, 1, 2)))}
            self._answers = 0
            self.spoiled = []

    def _ask(self, near: socket.socket, far: socket.socket) -> None:
        asked = self._asked_for.setdefault(near, deque())
        with suppress(OSError, struct.error):
            while frame := _frame(near):
                asked.append(struct.unpack_from(">h", frame, 4)[0])
                far.sendall(frame)
        self._end(near, far)

    def _answer(self, near: socket.socket, far: socket.socket) -> None:
        asked = self._asked_for.setdefault(near, deque())
        with suppress(OSError):
            while frame := _frame(far):
                api_key = asked.popleft()
                if api_key in _NAMING_BROKERS:
                    ours, theirs = struct.pack(">i", self.port), struct.pack(">i", self.target)
                    frame = frame.replace(theirs, ours)
                spoiled, whole = self._spoiled(api_key, frame)
                near.sendall(spoiled)
                if not whole:
                    break  # whoever waits for the rest must not wait for ever
        self._asked_for.pop(near, None)
        self._end(near, far)

    def _spoiled(self, api_key: int, frame: bytes) -> tuple[bytes, bool]:
        """The answer as it is sent on, and whether its frame is whole."""
        with self._counting:
            number, self._answers = self._answers, self._answers + 1
            if number not in self._spoil or len(frame) <= _HEAD:
                return frame, True
            how, head, body = mutate(self._random, frame[:_HEAD], frame[_HEAD:])
            self.spoiled.append(f"API {api_key}: {how}")
        data = head + body
        return data, len(data) == 4 + int.from_bytes(data[:4], "big", signed=True)


def mutate(random: Random, head: bytes, body: bytes) -> tuple[str, bytes, bytes]:
    """What was done, and the frame's head and body after it."""
    how = random.choice(_WAYS)
    at = random.randrange(len(body))
    if random.random() < 0.5:  # counts and codes stand at the beginning
        at = random.randrange(min(len(body), 40))
    if how == "flip":
        spoiled = bytearray(body)
        for _ in range(random.choice((1, 1, 3, 20))):
            spoiled[random.randrange(len(body)) if random.random() < 0.3 else at] ^= (
                1 << random.randrange(8)
            )
        body = bytes(spoiled)
    elif how == "number":
        number = random.choice(_NUMBERS)
        body = body[:at] + number + body[at + len(number) :]
    elif how == "cut":
        body = body[:at]
    elif how == "insert":
        body = body[:at] + random.randbytes(random.choice((1, 2, 8))) + body[at:]
    elif how == "remove":
        body = body[:at] + body[at + random.choice((1, 2, 8)) :]
    elif how == "zeros":
        body = body[:at] + bytes(len(body) - at)
    elif how == "ones":
        body = body[:at] + b"\xff" * min(len(body) - at, 64) + body[at + 64 :]
    elif how == "noise":
        body = body[:at] + random.randbytes(len(body) - at)
    elif how == "repeat":
        body = body + body[at:]
    if how == "identity":
        head = head[:4] + struct.pack(">i", random.randrange(-5, 1 << 31))
    size = 4 + len(body)
    if how == "size":
        size = random.choice((0, 3, 4, -1, size + 1, size - 1, 1 << 30, (1 << 31) - 1))
    return f"{how} at {at}", struct.pack(">i", size) + head[4:], body


def _frame(sock: socket.socket) -> bytes:
    """The next whole frame, or nothing at the end."""
    head = _exactly(sock, 4)
    if not head:
        return b""
    body = _exactly(sock, int.from_bytes(head, "big"))
    return head + body if body else b""


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            return b""
        data += more
    return bytes(data)
