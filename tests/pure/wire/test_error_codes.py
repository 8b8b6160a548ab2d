"""The constants of Kafka's error codes have the names of the table."""

from __future__ import annotations

from kafka_shell.wire import error_codes


def test_constants_have_the_names_of_their_codes() -> None:
    constants = {name: value for name, value in vars(error_codes).items() if isinstance(value, int)}
    assert constants
    assert {value: name for name, value in constants.items()} == {
        code: error_codes.ERRORS[code][0] for code in constants.values()
    }
