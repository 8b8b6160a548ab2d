"""Tables of quotas, credentials and users."""

from __future__ import annotations

from kafka_shell.admin.quotas.model import DEFAULT, Quota, QuotaEntity
from kafka_shell.admin.quotas.read import effective_quotas
from kafka_shell.admin.users.model import GeneratedPassword
from kafka_shell.base.plans import Secret
from kafka_shell.commands.configs.render import ConfigLine, config_line
from kafka_shell.commands.quotas.render import effective_quotas_page
from kafka_shell.commands.users.render import generated_page
from kafka_shell.output.data import plain

FOUND = (
    Quota(QuotaEntity("alice"), "producer_byte_rate", 5e6),
    Quota(QuotaEntity(DEFAULT), "producer_byte_rate", 1e8),
    Quota(QuotaEntity("alice", DEFAULT), "request_percentage", 12.5),
)


def lines(page: object) -> list[str]:
    return [str(line.plain).rstrip() for line in page]  # type: ignore[attr-defined]


def test_the_page_marks_the_effective_quotas() -> None:
    drawn = lines(effective_quotas_page(effective_quotas(FOUND, "alice", "app"), None))
    assert drawn[0] == "user alice   client-id app"
    user, default = (line for line in drawn if line.startswith(("User ", "Default user ")))
    assert "5MB/s *" in user and "100MB/s" in default and "*" not in default
    assert drawn[-4:] == [
        "producer_byte_rate            5MB/s  User                    user alice",
        "consumer_byte_rate        unlimited  -                       -",
        "request_percentage            12.5%  Default client of user  user alice client-id-default",
        "controller_mutation_rate  unlimited  -                       -",
    ]


def test_the_levels_fit_a_terminal_of_eighty_cells() -> None:
    drawn = lines(
        effective_quotas_page(effective_quotas(FOUND, "alice", "a-rather-long-client-id"), 80)
    )
    assert max(map(len, drawn)) <= 80


def test_who_is_not_named_is_any_other() -> None:
    assert lines(effective_quotas_page(effective_quotas(FOUND, None, "app"), None))[0] == (
        "any other user   client-id app"
    )
    assert (
        "no client ID"
        in lines(effective_quotas_page(effective_quotas(FOUND, "alice", ""), None))[0]
    )
    only_ip = lines(effective_quotas_page(effective_quotas((), None, None, "10.0.0.1"), None))
    assert only_ip[0] == "ip 10.0.0.1"
    assert not any("producer" in line for line in only_ip)


def test_a_line_as_kafkas_tool_prints_it() -> None:
    entity = QuotaEntity("alice", DEFAULT)
    told = ConfigLine("Quota configs", entity, {"producer_byte_rate": 50000.0, "x": 0.1})
    assert lines(config_line(told)) == [
        "Quota configs for user-principal 'alice', the default client-id are"
        " producer_byte_rate=50000.0, x=0.1"
    ]


def test_a_default_entity_is_not_a_name_in_json() -> None:
    assert plain(FOUND[1]) == {
        "entity": {"user": {"default": True}, "client_id": None, "ip": None},
        "key": "producer_byte_rate",
        "value": 1e8,
        "source": "default_user",
    }


def test_a_generated_password_is_shown_as_a_page_and_never_as_data() -> None:
    made = GeneratedPassword("zoe", Secret("pa55"))
    assert lines(generated_page(made, None))[-1] == "password  pa55"
    assert "pa55" not in repr(made)
    try:
        plain(made)
    except TypeError:
        return
    raise AssertionError("a password was written as data")
