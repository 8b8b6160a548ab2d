"""Completion menus, without a terminal or a broker."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import to_plain_text

from kafka_shell import journal
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType
from kafka_shell.commands import REGISTRY
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.language.cursor import CompletionRequest, completion_request
from kafka_shell.language.tokens import tokenize
from kafka_shell.settings import Settings
from kafka_shell.shell import completer
from kafka_shell.shell.completer import Offer, ShellCompleter, line_at
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import ClusterView, ConfigDoc, Part, TopicIndex, TopicsOf
from kafka_shell.wire.model import Broker, TopicSummary

NOW = 1_000_000.0
ORDERS = ConfigResource(ResourceType.TOPIC, "orders")
DOCS = {
    doc.name: doc
    for doc in (
        ConfigDoc("retention.ms", ConfigType.LONG, "How long.", "604800000"),
        ConfigDoc("retention.bytes", ConfigType.LONG, "How much.", "-1"),
        ConfigDoc("cleanup.policy", ConfigType.LIST, "What to do.", "delete"),
        ConfigDoc("preallocate", ConfigType.BOOLEAN, "Before.", "false"),
        ConfigDoc("frozen", ConfigType.STRING, "Cannot be altered.", "x", read_only=True),
    )
}
ENTRIES = {
    "retention.ms": ConfigEntry(ORDERS, "retention.ms", "86400000", ConfigSource.DYNAMIC_TOPIC,
                                type=ConfigType.LONG),
    "retention.bytes": ConfigEntry(ORDERS, "retention.bytes", "-1", ConfigSource.DEFAULT,
                                   type=ConfigType.LONG),
}  # fmt: skip
SUMMARIES = {
    name: TopicSummary(name, "id", name.startswith("__"), 3, 2, under)
    for name, under in (("orders", 0), ("payments.orders", 1), ("odd name", 0), ("__offsets", 0))
}
VIEW = ClusterView(
    brokers=Part((Broker(1, "b1", 9092, "r1"), Broker(2, "b2", 9092)), NOW),
    topics=Part(TopicIndex(NameIndex(SUMMARIES), summary_of=SUMMARIES.get), NOW),
    documentation=MappingProxyType({ResourceType.TOPIC: Part(DOCS, NOW)}),
    configs=MappingProxyType({ORDERS: Part(ENTRIES, NOW)}),
)


class Known:
    """A cache that knows what it knows, and remembers what was wished for."""

    def __init__(self, view: ClusterView) -> None:
        self.view = view
        self.wishes: list[Any] = []
        self.stale: set[Any] = set()

    def request(self, want: Any) -> bool:
        if want != "topics":  # read whenever the user types
            self.wishes.append(want)
        part = self.view.lookup(want)
        return want in self.stale or part is None or not part.read_at


class Bench:
    def __init__(self, folder: Path, view: ClusterView = VIEW) -> None:
        self.cache = Known(view)
        context = Context(ClusterSession(cast(Any, None)), Paths(folder, folder, folder))
        self.completer = ShellCompleter(lambda: cast(Any, self.cache), REGISTRY, context)

    def menu(self, text: str, *, asked: bool = True) -> dict[str, str]:
        """What is offered for the text, and what is said of each."""
        event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
        found = self.completer.get_completions(Document(text), event)
        return {to_plain_text(each.display): to_plain_text(each.display_meta) for each in found}

    def lines(self, text: str) -> list[str]:
        """The lines that taking each candidate would make."""
        document = Document(text)
        offers = self.completer.get_completions(document, CompleteEvent(completion_requested=True))
        return [text[: len(text) + each.start_position] + each.text for each in offers]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_commands_and_short_forms_have_descriptions(bench: Bench) -> None:
    menu = bench.menu("top")
    assert list(menu)[:1] == ["topics"] or "topics" in menu
    assert menu["topics"] == "short for list-topics"
    assert menu["list-topics"]
    assert "delete-topic" in bench.menu("dtop")
    assert "--list-topics" in bench.menu("--list-t")


def test_commands_are_found_by_search_words(bench: Bench) -> None:
    assert "exit" in bench.menu("bye")


def test_rare_commands_are_offered_last(bench: Bench) -> None:
    menu = bench.menu("alter-c")
    assert "alter-configs" in menu and [*menu][-1] == "alter-client-configs"


@pytest.mark.parametrize(
    ("typed", "rare", "offered"),
    [
        ("y", "verify-preferred-replica-leader-election", False),
        ("ver", "verify-preferred-replica-leader-election", True),
        ("au", "spark audit", True),
    ],
)
def test_rare_commands_are_offered_for_their_first_letters(
    bench: Bench, typed: str, rare: str, offered: bool
) -> None:
    assert (rare in bench.menu(typed)) is offered


def test_nothing_pops_up_where_nothing_was_typed_unless_tab_asks(bench: Bench) -> None:
    assert bench.menu("", asked=False) == {}
    assert bench.menu("health ", asked=False) == {}
    assert "list-topics" in bench.menu("")
    assert "--output" in bench.menu("health ")


def test_options_that_are_given_are_not_offered_again(bench: Bench) -> None:
    assert "--exclude-internal" in bench.menu("list-topics --ex")
    assert "--exclude-internal" not in bench.menu("list-topics --exclude-internal --ex")
    assert set(bench.menu("list-topics --output ")) == {"table", "json", "yaml", "csv"}
    assert bench.lines("list-topics --output=js") == ["list-topics --output=json"]


def test_topics_say_how_they_are(bench: Bench) -> None:
    menu = bench.menu("describe-topic ord")
    assert menu == {"orders": "3 × 2", "payments.orders": "3 × 2  1 under-replicated"}
    assert bench.menu("describe-topic __")["__offsets"].endswith("internal")
    assert bench.menu("describe-topic orders,pay") == {"payments.orders": menu["payments.orders"]}


def test_names_are_quoted_where_they_must_be(bench: Bench) -> None:
    assert bench.lines("describe-topic odd") == ["describe-topic 'odd name'"]
    assert bench.lines("describe-topic 'odd n") == ["describe-topic 'odd name'"]
    assert bench.lines('describe-topic "odd n') == ['describe-topic "odd name"']


def test_brokers_say_where_they_are(bench: Bench) -> None:
    assert bench.menu("describe-configs --broker-id ") == {"1": "b1:9092  rack r1", "2": "b2:9092"}


def test_keys_have_type_value_and_mark_and_overridden_ones_come_first(bench: Bench) -> None:
    menu = bench.menu("alter-configs orders ")
    assert next(iter(menu)) == "retention.ms="
    assert menu["retention.ms="].split() == ["long", "1d", "overridden"]
    assert menu["preallocate="].split() == ["boolean", "false"]
    assert "frozen=" not in menu
    assert bench.menu("describe-configs orders fro")["frozen"].split()[-1] == "read-only"
    assert bench.cache.wishes == [ORDERS] * 2


def test_keys_that_stand_there_already_are_left_out(bench: Bench) -> None:
    assert list(bench.menu("alter-configs orders retention.ms=1d reten")) == ["retention.bytes="]


def test_only_what_is_set_can_be_deleted_and_only_lists_appended_to(bench: Bench) -> None:
    assert list(bench.menu("alter-configs orders --delete-config ")) == ["retention.ms"]
    assert list(bench.menu("alter-configs orders --append ")) == ["cleanup.policy="]


def test_values_of_a_key(bench: Bench) -> None:
    assert bench.menu("alter-configs orders retention.ms=") == {
        "1d": "now, overridden",
        "7d": "default",
    }
    assert list(bench.menu("alter-configs orders preallocate=")) == ["true", "false"]
    policies = bench.menu("alter-configs orders cleanup.policy=")
    assert policies["delete"] == "default" and "compact" in policies
    assert bench.lines("alter-configs orders cleanup.policy=delete,") == [
        "alter-configs orders cleanup.policy=delete,compact"
    ]
    assert list(bench.menu("alter-configs --logger 1 kafka.request=D")) == ["DEBUG"]


def test_the_same_keys_in_every_spelling(bench: Bench) -> None:
    for line in (
        "alter-topic orders --config reten",
        "config-command --alter --entity-type topics --entity-name orders --add-config reten",
        "config-command --alter --topic orders --add-config preallocate=true,reten",
        "create-topic brand-new --config reten",
    ):
        assert "retention.ms=" in bench.menu(line), line


def test_missing_data_is_requested_and_awaited(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ClusterView())
    assert bench.menu("alter-configs --broker-id 1 log.") == {}
    broker = ConfigResource(ResourceType.BROKER, "1")
    assert bench.cache.wishes == [ResourceType.BROKER, broker]
    assert bench.completer.waits_for(Document("alter-configs --broker-id 1 log."))
    assert not bench.completer.waits_for(Document("alter-configs --broker-id 1 log."))
    bench.menu("alter-configs --broker-id 1 log.")
    assert not bench.completer.waits_for(Document("something else"))


def test_a_default_is_not_shown_as_the_value_of_an_unread_resource(tmp_path: Path) -> None:
    bench = Bench(tmp_path, replace(VIEW, configs=MappingProxyType({})))
    text = "alter-configs orders "
    assert bench.menu(text)["cleanup.policy="].split() == ["list", "…"]
    assert bench.completer.waits_for(Document(text))
    refused = Part({}, NOW, Failure("TOPIC_AUTHORIZATION_FAILED", "no"))
    bench = Bench(tmp_path, replace(VIEW, configs=MappingProxyType({ORDERS: refused})))
    assert bench.menu(text)["cleanup.policy="].split() == ["list"]
    assert bench.menu("create-topic new --config ")["cleanup.policy="].split() == ["list", "delete"]


@pytest.mark.parametrize("highlighted", [None, 0])
def test_new_data_updates_the_open_menu(tmp_path: Path, highlighted: int | None) -> None:
    bench = Bench(tmp_path, replace(VIEW, configs=MappingProxyType({})))
    document = Document("alter-configs orders rete")
    asked = CompleteEvent(completion_requested=True)
    menu = list(bench.completer.get_completions(document, asked))
    assert [each.text for each in menu] == ["retention.bytes=", "retention.ms="]
    state = CompletionState(document, menu, highlighted)
    bench.completer.renew(state)
    assert bench.completer.waits_for(document)  # still lacking, and so still waited for
    bench.cache.view = VIEW
    bench.completer.renew(state)
    assert not bench.completer.waits_for(document)
    assert [each.text for each in state.completions] == ["retention.ms=", "retention.bytes="]
    assert to_plain_text(state.completions[0].display_meta).split() == ["long", "1d", "overridden"]
    chosen = state.current_completion
    assert (chosen.text if chosen else None) == (
        None if highlighted is None else "retention.bytes="
    )


@pytest.mark.parametrize("command", ["reset-offsets", "delete-offsets"])
def test_the_topics_of_the_group_whose_offsets_change(tmp_path: Path, command: str) -> None:
    bench = Bench(tmp_path)
    text = f"{command} billing --topic "
    assert set(bench.menu(text)) == set(SUMMARIES), "as long as they are not known"
    assert bench.completer.waits_for(Document(text))
    assert bench.cache.wishes == [TopicsOf("billing")]
    known = {TopicsOf("billing"): Part(("payments.orders", "odd name"), NOW)}
    bench.cache.view = VIEW.with_group_topics(known, 10)
    assert set(bench.menu(text)) == {"payments.orders", "odd name"}
    assert bench.menu(text)["payments.orders"].startswith("3 × 2")
    assert not bench.completer.waits_for(Document(text))
    assert bench.lines(f"{text}pay") == [f"{text}payments.orders"]
    assert "__offsets" in bench.menu(f"{text}__"), "others can be named as well"
    assert set(bench.menu(f"{command} other --topic ")) == set(SUMMARIES)


def test_the_topics_of_a_group_are_requested_as_soon_as_it_is_named(bench: Bench) -> None:
    bench.menu("reset-offsets billing", asked=False)
    assert TopicsOf("billing") not in bench.cache.wishes
    bench.menu("reset-offsets billing ", asked=False)
    assert bench.cache.wishes[-1] == TopicsOf("billing")
    bench.menu("describe-group other ", asked=False)
    assert TopicsOf("other") not in bench.cache.wishes


def test_a_menu_of_old_values_is_drawn_again_when_they_were_read(bench: Bench) -> None:
    """All parts are as old as the topics here."""
    bench.cache.stale = {ORDERS}
    bench.menu("alter-configs orders rete")
    assert bench.completer.waits_for(Document("alter-configs orders rete"))
    bench.cache.stale = set()
    bench.menu("alter-configs orders rete")
    assert not bench.completer.waits_for(Document("alter-configs orders rete"))


def test_a_line_is_parsed_once_for_all_that_is_drawn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def counted(text: str, *where: Any) -> CompletionRequest:
        parsed.append(text)
        return completion_request(text, *where)

    monkeypatch.setattr(completer, "completion_request", counted)
    document = Document("alter-configs orders retention.ms=")
    bench.menu(document.text)
    assert bench.completer.subject(document, "") is not None
    assert bench.completer.unread(document) == "" == bench.completer.preview(document)
    assert parsed == [document.text]


@pytest.mark.parametrize("name", ["it's", 'it"s', "it$`\\", "it's two"])
@pytest.mark.parametrize(
    "typed", ["it", "'it", '"it', "i't", 'i"t', "'i't", "'i'\"t", "i\\t", '"i"\'t']
)
def test_a_name_taken_from_the_menu_is_one_word(tmp_path: Path, name: str, typed: str) -> None:
    bench = Bench(tmp_path, ClusterView(topics=Part(TopicIndex(NameIndex([name])), NOW)))
    for line in bench.lines(f"describe-topic {typed}"):
        parsed = tokenize(line)
        assert [word.text for word in parsed.words] == ["describe-topic", name]
        assert parsed.incomplete is None


def test_commands_and_options_in_quotes_get_the_closing_one(bench: Bench) -> None:
    assert bench.lines("'list-top")[0] == "'list-topics'"
    assert bench.lines("list-topics '--lon") == ["list-topics '--long'"]
    assert bench.lines("spark 'tabl") == ["spark tables"]


def test_configs_are_requested_as_soon_as_their_topic_is_named(bench: Bench) -> None:
    bench.menu("alter-topic orders ", asked=False)
    assert bench.cache.wishes == [ORDERS]
    bench.menu("alter-topic orders", asked=False)
    bench.menu("describe-topic orders ", asked=False)
    bench.menu("alter-topic nowhere ", asked=False)
    assert bench.cache.wishes == [ORDERS]


def test_options_are_offered_in_declared_order(bench: Bench) -> None:
    menu = list(bench.menu("describe-topic --"))
    own = [o.name for command in REGISTRY if command.name == "describe-topic"
           for o in command.options if not o.hidden]  # fmt: skip
    assert own and [name for name in menu if name in own] == own
    assert menu.index("--output") > max(map(menu.index, own))


def test_values_of_a_setting(bench: Bench) -> None:
    assert list(bench.menu("set pager ")) == ["off", "1", "2"]
    assert list(bench.menu("set refresh 1")) == ["10s", "1m"]
    assert list(bench.menu("set output j")) == ["json"]
    assert bench.menu("set nothing ") == {}


def test_configs_of_a_missing_topic_are_not_requested(bench: Bench) -> None:
    bench.menu("alter-configs nowhere reten")
    bench.menu("alter-configs 'ord*' reten")
    bench.menu("alter-configs orders,payments.orders reten")
    assert not bench.cache.wishes


@pytest.mark.parametrize(
    ("text", "highlighted", "key"),
    [
        ("alter-configs orders reten", "retention.bytes", "retention.bytes"),
        ("alter-configs orders retention.ms=", "", "retention.ms"),
        ("alter-configs orders retention.ms=7d", "7d", "retention.ms"),
        ("describe-configs orders retention.ms", "", "retention.ms"),
        ("describe-configs orders nothing", "", None),
        ("describe-topic orders", "retention.ms", None),
        ("", "", None),
    ],
)
def test_the_key_at_hand(bench: Bench, text: str, highlighted: str, key: str | None) -> None:
    found = bench.completer.subject(Document(text), highlighted)
    assert (found[2] if found else None) == key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("describe-topic '*orders", "2 topics: orders, payments.orders"),
        ("delete-topic orders,pay*", "1 topic: payments.orders"),
        ("delete-topic zzz*", "0 topics"),
        ("describe-topic orders", ""),
        ("describe-topic /ord.*/", ""),
        ("describe-configs --broker-id *", ""),
    ],
)
def test_the_matches_of_a_glob_are_previewed(bench: Bench, text: str, said: str) -> None:
    assert bench.completer.preview(Document(text)) == said


def test_files_of_a_folder(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "nightly run.kafka").touch()
    (tmp_path / "deeper").mkdir()
    (tmp_path / ".hidden").touch()
    assert bench.lines(f"source {tmp_path}/n") == [f"source '{tmp_path}/nightly run.kafka'"]
    assert bench.lines(f"list-topics > {tmp_path}/d") == [f"list-topics > {tmp_path}/deeper/"]
    assert len(bench.lines(f"source {tmp_path}/")) == 2
    assert bench.menu("source ~no-such-user/x") == {}


def test_config_command_completes_all_that_a_user_can_have(bench: Bench) -> None:
    quota, dynamic, scram = "producer_byte_rate", "session.timeout.ms", "SCRAM-SHA-512"
    of_user = {f"{quota}=", f"{dynamic}=", f"{scram}="}
    for user in ("--entity-type users --entity-name alice", "--user alice"):
        assert of_user <= set(bench.menu(f"config-command --alter {user} --add-config "))
        deleted = set(bench.menu(f"config-command --alter {user} --delete-config "))
        assert {dynamic, scram, "supported.configs"} <= deleted
        assert bench.menu(f"config-command --alter {user} --add-config acks=")
    clients = "--user alice --client app"
    of_client = set(bench.menu(f"config-command --alter {clients} --add-config "))
    assert {f"{quota}=", f"{dynamic}="} <= of_client and f"{scram}=" not in of_client
    for nobody in ("--client app", "--user-defaults", "--entity-type users --entity-name ''"):
        offered = set(bench.menu(f"config-command --alter {nobody} --add-config "))
        assert f"{quota}=" in offered and not offered & {f"{dynamic}=", f"{scram}="}


def test_profiles_and_themes(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[profiles.prod]\nbootstrap = "b:1"\n[profiles.dev]\n')
    assert bench.menu("connect ") == {"dev": "", "prod": "b:1"} or bench.menu("connect ") == {
        "prod": "b:1",
        "dev": "",
    }
    (tmp_path / "config.toml").write_text("[")
    assert bench.menu("connect ") == {}
    assert "mono" in bench.menu("theme mo")


def test_journal_entries_are_offered_with_their_commands(bench: Bench, tmp_path: Path) -> None:
    session = ClusterSession(Settings())
    session.cluster = cast(Any, SimpleNamespace(cluster_id="c", close=lambda: None))
    context = Context(session, Paths(tmp_path, tmp_path, tmp_path))
    change = Change(Resource("topic", "orders"), "create")
    assert bench.menu("undo ") == {}
    first, second = (journal.record_intent(context, name, [change], [name]) for name in "12")
    final = journal.record_intent(context, "final", [change], [])
    assert list(bench.menu("undo ").items()) == [(second.id, "2"), (first.id, "1")]
    assert list(bench.menu("journal ")) == [final.id, second.id, first.id]
    journal.mark_undone(context, [second.id])
    assert bench.menu(f"journal {second.id[:6]}") == {second.id: "undone: 2"}
    assert list(bench.menu("undo ")) == [first.id]
    bench.cache.view = replace(VIEW, cluster_id="another")
    assert bench.menu("undo ") == {} == bench.menu("journal "), "entries of another cluster"


def test_nothing_is_offered_to_another_shell(bench: Bench) -> None:
    assert bench.menu("list-topics | gre") == {}
    assert bench.menu("!l") == {}
    assert bench.menu("# list") == {}


def test_more_than_the_menu_holds_is_counted(tmp_path: Path) -> None:
    index = TopicIndex(NameIndex(f"topic-{number:06d}" for number in range(100_000)))
    bench = Bench(tmp_path, ClusterView(topics=Part(index, NOW)))
    menu = bench.menu("describe-topic topic")
    assert len(menu) == 201
    assert "… 99,800 more" in menu
    assert bench.lines("describe-topic topic")[-1] == "describe-topic topic"


def test_the_line_of_several_that_the_cursor_is_in(bench: Bench) -> None:
    text = "health\nlist-topics \\\n  --lo\ndescribe-topic ord"
    assert line_at(text, 3) == (0, "health")
    assert line_at(text, text.index("--lo")) == (7, "list-topics \\\n  --lo")
    assert bench.lines(text)[0].endswith("\ndescribe-topic orders")


@given(st.text(st.sampled_from("alter-configs orders=retention.ms,'\"|>!#[]/\\ \n1"), max_size=60))
def test_it_never_raises(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    bench = Bench(tmp_path_factory.getbasetemp())
    for prefix in ("", "alter-configs orders "):
        for each in bench.completer.get_completions(
            Document(prefix + text), CompleteEvent(completion_requested=True)
        ):
            assert -len(prefix + text) <= each.start_position <= 0
        bench.completer.subject(Document(prefix + text), "")
        bench.completer.command_at(prefix + text, len(text))


def test_offers_know_their_names(bench: Bench) -> None:
    event = CompleteEvent(completion_requested=True)
    (offer,) = bench.completer.get_completions(Document("describe-topic odd"), event)
    assert isinstance(offer, Offer)
    assert (offer.name, offer.continues) == ("odd name", False)
