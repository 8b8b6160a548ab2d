"""Which responses the codec accepts."""

from __future__ import annotations

import subprocess
import sys

import pytest
from kafka.protocol.admin import DescribeQuorumRequest, DescribeQuorumResponse

from kafka_shell.wire.codec import Message

Row = DescribeQuorumResponse
VERSION = 2


def response(
    host: str | None = "localhost", nodes: object = (), message: str | None = None
) -> bytes:
    """The body of a response of DescribeQuorum (API key 55), as it is sent."""
    listener = Row.Node.Listener(name="CONTROLLER", host=host, port=9093)
    listed = [Row.Node(node_id=1, listeners=[listener])] if nodes == () else nodes
    made = Row(error_code=0, error_message=message, topics=[], nodes=listed)
    return bytes(made.encode(version=VERSION))


def decoded(body: bytes) -> object:
    """The message of a response."""
    request = Message(DescribeQuorumRequest(topics=[]))
    return request.decode(VERSION, memoryview(body))


def test_null_is_accepted_only_where_the_protocol_allows_it() -> None:
    assert "localhost" in repr(decoded(response()))
    assert decoded(response(message=None))
    with pytest.raises(ValueError, match="host is null"):
        decoded(response(host=None))
    with pytest.raises(ValueError, match="nodes is null"):
        decoded(response(nodes=None))


def test_also_after_kafka_pythons_own_client_has_decoded_such_a_response() -> None:
    code = (
        "from tests.live.wire.test_codec import Row, VERSION, decoded, response\n"
        "kind = Row[None]\n"
        "Row._struct.compiled_decode_from(VERSION, compact=True, tagged=True, data_class=kind)\n"
        "try: decoded(response(host=None))\n"
        "except ValueError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "host is null\n", run.stderr


def test_threads_that_begin_at_once_patch_the_codec_once() -> None:
    """A second patch on top of the first makes decoders that are not valid Python."""
    threads = """
import threading, time
from kafka_shell.wire import codec

patch, patched = codec._limit_varints, []

def slowly():
    patched.append(1)
    time.sleep(0.2)
    patch()

codec._limit_varints = slowly
threads = [threading.Thread(target=codec._response_classes) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(len(patched))
"""
    done = subprocess.run([sys.executable, "-c", threads], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr
