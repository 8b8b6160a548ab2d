"""The prompt on a real terminal and a real broker."""

from __future__ import annotations

import re
import shutil
import signal
import termios
from pathlib import Path
from uuid import uuid4

import pexpect
import pytest

from kafka_shell.admin.topics.change import plan_create, plan_delete
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.shell.paging import LESS_PROMPT
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.outages import frozen
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.terminal import Open, Terminal


def test_a_key_is_completed_with_its_documentation_altered_and_seen(shell: Terminal) -> None:
    shell.type("alter-configs shell.ord")
    shell.sees("shell.orders  ", "2 × 1")
    shell.press("tab")
    shell.until(lambda: shell.line.endswith("alter-configs shell.orders"))
    shell.type("rete")
    shell.sees("retention.ms=", "long", "7d")
    shell.press("down")
    shell.sees("This configuration controls the maximum", "default -1")
    shell.press("down")
    shell.sees("retention.ms  long · now 7d (604800000)", "This configuration controls")
    shell.press("enter")
    shell.sees("now, the default")
    shell.type("30d")
    shell.press("enter")
    shell.sees("undo", "30d", "kafka>")
    shell.at_prompt()
    shell.type("alter-configs shell.orders retention.ms")
    shell.sees("30d  overridden")


def test_topics_complete_by_fragments_and_options_by_what_is_left(shell: Terminal) -> None:
    shell.type("topic raw")
    shell.sees("shell.clicks.raw")
    shell.press("tab")
    shell.type("--under-r")
    shell.sees("--under-replicated-partitions", "Only under-replicated")
    shell.press("tab", "enter")
    shell.at_prompt()


def test_unknown_words_are_highlighted_while_typing(shell: Terminal) -> None:
    shell.type("describe-topi")
    shell.sees("> describe-topi")
    shell.until(lambda: shell.style_of("describe-topi").underscore)
    shell.type("c")
    shell.sees("> describe-topic")
    shell.until(lambda: not shell.style_of("describe-topic").underscore)


def test_ctrl_c_clears_the_line_and_ctrl_d_leaves(shell: Terminal) -> None:
    shell.type("describe-nothing")
    shell.until(lambda: "describe-nothing" in shell.line)
    shell.press("c-c")
    shell.at_prompt()
    shell.press("c-d")
    assert shell.ends() == 0


def test_ctrl_c_ends_the_running_command_only(shell: Terminal) -> None:
    shell.run("!echo started; sleep 600")
    shell.sees("started")
    shell.until(lambda: shell.rows.count("started") == 1)
    shell.press("c-c")
    shell.sees("interrupted")
    shell.at_prompt()
    shell.run("list-topics")
    shell.sees("shell.payments")


def test_watch_is_ended_by_ctrl_c_and_leaves_its_last_answer(shell: Terminal) -> None:
    shell.run("watch 0.2 topics 'shell.*'")
    shell.sees("every 0.2 s: topics", "shell.orders")
    shell.press("c-c")
    shell.at_prompt()
    # pyte has one screen only, so what was drawn stays: the last answer comes after it.
    assert shell.text.rindex("shell.orders") > shell.text.index("every 0.2 s")


def test_the_changes_of_this_prompt_are_undone_after_one_question(shell: Terminal) -> None:
    shell.run("alter-configs shell.payments retention.ms=30d")
    shell.run("alter-configs shell.payments flush.ms=1000")
    shell.type("undo --session")
    shell.press("enter")
    question = "Apply 2 changes to 1 topic (deletes no records now) on "
    shell.sees("30d -> (removed)", "1s -> (removed)", question, "? [y/N]")
    shell.type("y")
    shell.press("enter")
    shell.sees("altered topic shell.payments: ")
    shell.at_prompt()
    shell.run("journal --session --output csv | grep -c ',true$' | sed s,^,undone=,")
    shell.sees("undone=2")
    shell.type("undo ")
    shell.press("tab")
    shell.until(
        lambda: re.search("> undo [0-9a-f]{8}$", shell.line) is not None,
        "the only change that can be undone: the undo itself",
    )


def test_clear_and_ctrl_l_clear_the_screen(shell: Terminal) -> None:
    for typed in ("clear\r", "\x0c"):
        shell.run("topics 'shell.*'")
        shell.sees("shell.payments")
        shell.at_prompt()
        shell.type(typed)
        shell.until(lambda: shell.rows[0] == "kafka>" and "shell.payments" not in shell.text)


def test_words_in_another_order_are_suggested_in_the_next_line(shell: Terminal) -> None:
    shell.run("list topics")
    shell.sees("unknown command 'list topics'", "hint: Run: list-topics")
    shell.until(lambda: shell.line.endswith("kafka> list-topics"))
    shell.press("right", "enter")
    shell.sees("shell.payments")


def test_f1_shows_help_or_a_key_and_the_line_stays(shell: Terminal) -> None:
    shell.type("refresh ")
    shell.until(lambda: "refresh" in shell.line)
    shell.press("f1")
    shell.sees("usage: refresh")
    shell.until(lambda: shell.line.endswith("kafka> refresh"))
    shell.press("c-u")
    shell.type("alter-configs shell.orders cleanup.policy=")
    shell.sees("cleanup.policy  list")
    shell.press("f1")
    shell.until(lambda: "log segments" in shell.text)
    shell.until(lambda: shell.line.endswith("alter-configs shell.orders cleanup.policy="))


def test_ctrl_r_finds_an_earlier_line(shell: Terminal) -> None:
    shell.run("list-topics | head -1")
    shell.at_prompt()
    shell.press("c-r")
    shell.sees("I-search backward")
    shell.type("head")
    shell.until(lambda: "kafka> list-topics | head -1" in shell.text)
    shell.press("enter", "enter")
    shell.until(lambda: shell.text.count("kafka> list-topics | head -1") == 2)


def test_up_goes_back_to_lines_that_begin_as_typed(shell: Terminal) -> None:
    shell.run("connect")
    shell.sees("cluster ")
    shell.at_prompt()
    shell.run("help refresh")
    shell.sees("usage: refresh")
    shell.at_prompt()
    shell.type("con")
    shell.sees("connect  ")
    shell.press("up")
    shell.until(lambda: shell.line.endswith("kafka> connect"))


def test_the_theme_changes_at_once(shell: Terminal) -> None:
    before = shell.style_of("as of").bg
    shell.run("theme parchment")
    shell.sees('add theme = "parchment"', "as of")
    shell.until(lambda: shell.style_of("as of").bg != before)
    shell.run("theme no-such-theme")
    shell.sees("unknown theme 'no-such-theme'")


def test_vi_keys_can_be_had(shell: Terminal) -> None:
    shell.press("f4")
    shell.until(lambda: "F4 vi" not in shell.text and "  vi" in shell.text)
    shell.type("helthx")
    shell.press("escape")
    shell.type("0s")
    shell.until(lambda: shell.line.endswith("kafka> elthx"))
    shell.press("escape", "f4")
    shell.sees("F4 vi")
    shell.press("c-u")
    shell.run("set editing-mode vi")
    shell.until(lambda: "F4 vi" not in shell.text)


def test_several_pasted_lines_wait_to_be_looked_at_and_run_in_turn(shell: Terminal) -> None:
    shell.paste("list-topics | head -1\nno-such-command\nhealth\n")
    shell.sees("no-such-command", "health")
    assert "unknown command" not in shell.text
    shell.press("enter")
    shell.sees("unknown command 'no-such-command'", "stopped: 1 more line not run")
    shell.at_prompt()


def test_an_incomplete_line_continues(shell: Terminal) -> None:
    shell.type("list-topics 'shell.ord")
    shell.press("enter")
    shell.until(
        lambda: shell.screen.cursor.y > 0 and shell.rows[shell.screen.cursor.y].endswith("·")
    )
    shell.press("c-c")
    shell.type("list-topics \\")
    shell.press("enter")
    shell.type("shell.orders")
    shell.press("enter")
    shell.until(lambda: "shell.orders" in shell.rows)


@pytest.mark.parametrize("rows, columns", [(10, 40), (3, 12)])
def test_a_tiny_terminal_is_enough(
    open_terminal: Open, bootstrap: str, rows: int, columns: int
) -> None:
    tiny = open_terminal("--broker", bootstrap, rows=rows, columns=columns)
    tiny.at_prompt()
    tiny.type("hea")
    tiny.until(lambda: "hea" in tiny.line)
    assert "too small" not in tiny.text
    tiny.resize(40, 120)
    tiny.type("lth")
    tiny.sees("kafka> health", "as of")
    tiny.press("enter")
    tiny.sees("cluster")
    tiny.resize(rows, columns)
    tiny.type("\x0cx")  # Ctrl-L: the emulator cuts off other rows than a terminal does
    tiny.until(lambda: "x" in tiny.line)
    assert "too small" not in tiny.text


def test_ctrl_c_at_a_question_ends_the_line(shell: Terminal, tmp_path: Path) -> None:
    shell.run("create-topic shell.doomed --partitions 1 --replication-factor 1")
    shell.sees("shell.doomed", "kafka>")
    shell.at_prompt()
    shell.run("delete-topic shell.doomed")
    shell.sees("[y/N]")
    shell.press("c-c")
    shell.sees("no changes made", "interrupted")
    shell.at_prompt()
    (tmp_path / "exists").write_text("kept")
    ran = tmp_path / "ran"
    for rest in (f"|| !touch {ran}", f"; !touch {ran}"):
        shell.run("clear")
        shell.until(lambda: shell.rows[0] == "kafka>")
        shell.run(f"help > {tmp_path}/exists {rest}")
        shell.sees("Overwrite", "[y/N]")
        shell.press("c-c")
        shell.sees("no changes made", "interrupted")
        shell.at_prompt()
        assert not ran.exists(), rest
    shell.run("clear")
    shell.until(lambda: shell.rows[0] == "kafka>")
    shell.run("delete-topic shell.doomed")
    shell.sees("[y/N]")
    shell.type("y")
    shell.press("enter")
    shell.at_prompt()
    shell.run("topic shell.doomed")
    shell.sees("UNKNOWN_TOPIC")


def test_the_suggestion_is_taken_with_the_right_arrow(shell: Terminal) -> None:
    shell.type("cluster-m")
    shell.sees("cluster-metadata")
    shell.press("right", "enter")
    shell.sees("BROKER")


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less here")
def test_long_answers_are_paged_and_short_ones_are_not(shell: Terminal) -> None:
    shell.run("describe-configs --broker-id 1 --all --documentation --output json")
    shell.until(lambda: shell.rows[-1] == LESS_PROMPT, "in the pager")
    shell.type("q")  # while there is more than a pipe holds
    shell.at_prompt()
    shell.run("list-topics")
    shell.sees("shell.orders")
    shell.at_prompt()
    shell.run("describe-configs --broker-id 1 --all")
    shell.until(lambda: shell.rows[-1] == LESS_PROMPT, "in the pager")
    shell.press("c-c")
    shell.at_prompt()
    shell.run("set pager off")
    shell.sees("pager is off")
    shell.run("describe-configs --broker-id 1 --all")
    shell.at_prompt()


def test_typed_ahead_input_does_not_go_to_the_pager(shell: Terminal) -> None:
    shell.type("describe-configs --broker-id 1 --all\rhelp refresh\r")
    shell.sees("usage: refresh")
    shell.at_prompt()
    shell.type("!sleep 1; echo slept\r")
    shell.until(lambda: shell.screen.cursor.x == 0)
    shell.type("describe-configs --broker-id 1 --all\rhealth --ou")
    shell.sees("slept")
    shell.until(lambda: shell.line.endswith("kafka> health --ou"))


def test_typed_ahead_input_does_not_answer_questions(shell: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "exists"
    file.write_text("kept")
    shell.type(f"!sleep 1; echo slept\rhelp > {file}\ry\rhelp refresh\r")
    shell.sees("slept", "Overwrite", "[y/N]")
    shell.until(lambda: shell.line.endswith("[y/N]"))
    shell.press("enter")
    shell.sees("already exists")
    shell.at_prompt()
    assert file.read_text() == "kept"
    shell.type("!sleep 1; echo again\rscram-credentials --user early --add SCRAM-SHA-256\r")
    shell.type("topics\rtopics\r")
    shell.sees("again", "Password for early:")
    assert "Repeat" not in shell.text
    shell.press("c-c")
    shell.sees("no changes made")
    shell.at_prompt()


def test_a_menu_takes_the_rows_that_there_are(shell: Terminal) -> None:
    shell.run("!seq 100")
    shell.at_prompt()
    shell.press("tab")
    shell.sees("list-topics  ", "help  ", "topics  ")
    shell.until(lambda: len(shell.rows) - 1 - shell.screen.cursor.y > 20, "with a long menu")
    shell.press("escape", "c-c")
    shell.at_prompt()


def test_the_only_candidate_is_taken_in_the_middle_of_a_line(shell: Terminal) -> None:
    shell.type("topic shell.or --output json")
    shell.until(lambda: shell.line.endswith("json"))
    for _ in range(len(" --output json")):
        shell.type("\x1b[D")
    shell.press("tab")
    shell.until(lambda: shell.line.endswith("topic shell.orders --output json"))


def test_a_candidate_accepted_within_quotes_does_not_leave_the_rest(shell: Terminal) -> None:
    shell.type("topic 'shell.ers'")
    shell.until(lambda: shell.line.endswith("topic 'shell.ers'"))
    for _ in range(len("ers'")):
        shell.type("\x1b[D")
    shell.type("ord")
    shell.sees("shell.orders  ")
    shell.press("down")
    shell.until(lambda: "topic 'shell.orders'" in shell.line)
    shell.press("enter")
    shell.type("--out")
    shell.until(lambda: shell.line.endswith("topic 'shell.orders' --out"))


def test_no_menu_follows_the_only_candidate_until_tab_or_a_letter(shell: Terminal) -> None:
    shell.type("describe-topic clic")
    shell.sees("shell.clicks.raw")
    shell.press("tab")
    shell.until(lambda: shell.line.endswith("describe-topic shell.clicks.raw"))
    shell.press("f4")
    shell.until(lambda: "F4 vi" not in shell.text and "  vi" in shell.text)
    shell.press("f4")
    shell.sees("F4 vi")  # a menu would have been drawn before
    assert "shell.payments" not in shell.text
    shell.press("tab")
    shell.sees("shell.payments")


def test_the_equivalent_of_a_pasted_line_is_suggested(shell: Terminal, bootstrap: str) -> None:
    shell.run(f"kafka-topics.sh --bootstrap-server {bootstrap} --list")
    shell.sees("Equivalent: list-topics")
    shell.until(lambda: shell.line.endswith("kafka> list-topics"))
    shell.type("topics")
    shell.until(lambda: "kafka> topics" in shell.line)
    shell.press("c-u")
    shell.run(f"kafka-topics.sh --bootstrap-server {bootstrap} --list")
    shell.sees("Enter runs it, the right arrow edits it.")
    shell.until(lambda: shell.line.endswith("kafka> list-topics"))
    shell.press("enter")
    shell.sees("shell.payments")
    shell.until(lambda: shell.rows[shell.screen.cursor.y].rstrip().endswith(">"))


def test_an_equivalent_that_changes_something_asks_first(shell: Terminal, bootstrap: str) -> None:
    acl = "--add --allow-principal User:bob --operation Read --topic shell.orders --force"
    for typed, question in (
        ("kafka-topics.sh --create --topic shell.offered --partitions 1", "Create 1 topic"),
        (f"kafka-acls.sh {acl}", "Create 1 ACL"),
    ):
        shell.run(f"{typed} --bootstrap-server {bootstrap}")
        shell.sees("Enter runs it")
        shell.press("enter")
        shell.until(lambda asked=question: asked in shell.line and "[y/N]" in shell.line)
        shell.press("enter")
        shell.sees("not confirmed: nothing was changed")
        shell.run("clear")
        shell.at_prompt()


def test_an_idle_prompt_sees_changes_of_others_if_refresh_is_set(
    shell: Terminal, bootstrap: str
) -> None:
    shell.run("set refresh 1s")
    shell.sees("refresh is 1s", "3 topics")
    with Cluster(ConnectionConfig(bootstrap=parse_addresses(bootstrap))) as cluster:
        assert apply(plan_create([NewTopic("shell.later", 1, 1)]), cluster).ok
        shell.sees("4 topics")
        assert apply(plan_delete(cluster, ["shell.later"]), cluster).ok
        shell.sees("3 topics")


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less here")
def test_the_pager_shows_the_end_of_the_history(
    open_terminal: Open, bootstrap: str, tmp_path: Path
) -> None:
    entries = [f"\n# 2026-01-31 10:00:00+00:00\n+topics a{number}.\n" for number in range(200)]
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state" / "history").write_text("".join(entries))
    shell = open_terminal("--broker", bootstrap)
    shell.sees("as of")
    shell.run("history")
    shell.until(lambda: shell.rows[-1] == LESS_PROMPT, "in the pager")
    shell.sees("topics a199.", "  history")
    shell.type("q")
    shell.at_prompt()


def test_a_pasted_line_for_another_cluster_stays_one(shell: Terminal) -> None:
    shell.run("kafka-topics.sh --bootstrap-server other:9092 --delete --topic shell.orders")
    shell.sees("Equivalent: delete-topic shell.orders --broker other:9092")
    shell.press("c-c")


def test_values_come_into_the_open_menu(shell: Terminal) -> None:
    shell.run("alter-configs shell.clicks.raw cleanup.policy=compact --yes")
    shell.sees("undo")
    shell.at_prompt()
    shell.paste("alter-configs shell.clicks.raw ")
    shell.press("tab")
    shell.sees("cleanup.policy=", "compact  overridden")


def test_the_built_in_pager(open_terminal: Open, bootstrap: str) -> None:
    shell = open_terminal("--broker", bootstrap, PATH="/nowhere")
    shell.sees("as of")
    shell.run("describe-configs --broker-id 1 --all")
    shell.sees("-- more: Enter, or q to quit --")
    first = shell.rows[0]
    shell.press("enter")
    shell.until(lambda: shell.rows[0] != first and shell.rows[-1].startswith("-- more"))
    shell.type("q")
    shell.press("enter")
    shell.at_prompt()


def test_without_a_broker_the_prompt_says_what_to_do(open_terminal: Open, bootstrap: str) -> None:
    alone = open_terminal("--broker", "localhost:1")
    alone.sees("refused", "kafka.sh --sandbox", "connect HOST:PORT", "unreachable since")
    alone.at_prompt()
    alone.run("list-topics")
    alone.sees("error: ")
    alone.at_prompt()
    alone.run(f"connect {bootstrap}")
    alone.sees("1 broker  ")
    alone.run("list-topics")
    alone.sees("shell.orders")


def test_the_guard_and_the_theme_follow_the_cluster_and_what_was_set_is_kept(
    open_terminal: Open, bootstrap: str, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text(
        f'[profiles.prod]\nbootstrap = "{bootstrap}"\nguard = "typed"\ntheme = "parchment"\n'
    )
    shell = open_terminal("--broker", "localhost:1")
    shell.sees("unreachable since")
    before = shell.style_of("unreachable since").bg
    shell.run("set output json")
    shell.sees("output is json")
    shell.run(f"connect {bootstrap}")
    shell.sees("kafka!>", "guard: typed", "as of")
    assert shell.style_of("as of").bg == before
    shell.run("connect prod")
    shell.sees("kafka:prod!>", "as of")
    shell.until(lambda: shell.style_of("as of").bg != before)
    shell.run("topics shell.orders")
    shell.sees('"name": "shell.orders"')


def test_a_signal_restores_the_terminal(open_terminal: Open, bootstrap: str) -> None:
    shell = open_terminal("--broker", bootstrap)
    shell.sees("as of")
    terminal = shell.child.child_fd
    assert not termios.tcgetattr(terminal)[3] & termios.ICANON
    shell.child.kill(signal.SIGTERM)
    shell.child.expect(pexpect.EOF)
    assert termios.tcgetattr(terminal)[3] & termios.ICANON
    assert shell.child.wait() == 128 + signal.SIGTERM


def test_a_signal_ends_watch_and_restores_the_screen(open_terminal: Open, bootstrap: str) -> None:
    watch = open_terminal("--broker", bootstrap, "watch", "0.2", "list-topics")
    watch.sees("every 0.2 s", "shell.orders")
    assert watch.screen.cursor.hidden
    watch.child.kill(signal.SIGTERM)
    assert watch.ends() == 128 + signal.SIGTERM
    assert not watch.screen.cursor.hidden


def test_browsing_the_history_does_not_start_spark(
    open_terminal: Open, bootstrap: str, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "history").write_text("+spark tables\n")
    shell = open_terminal("--broker", bootstrap)
    shell.sees("as of")
    shell.press("up")
    shell.until(lambda: shell.line.endswith("spark tables"))
    shell.press("c-c")
    shell.at_prompt()
    assert "starting Spark" not in shell.everything
    shell.type("spark t")
    shell.sees("starting Spark")


def test_a_cold_start_has_the_topics_of_the_last_session(
    open_terminal: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "box"
    box = start(SandboxOptions(folder, "4.3", 1, port=0))
    try:
        where = f"localhost:{box.brokers[0].ports['PLAINTEXT']}"
        _survives(open_terminal(f"--broker={where}"), box)
        stop_broker(folder, 1)
        cold = open_terminal("--broker", where)
        cold.sees("unreachable since")
        cold.type("topic came-b")
        cold.sees("came-back")
    finally:
        wipe(folder)


def _survives(shell: Terminal, box: Sandbox) -> None:
    """A cluster goes away and comes back; the session goes on."""
    shell.sees("as of")
    stop_broker(box.folder, 1)
    shell.run("list-topics --deadline 3s")
    shell.sees("error: ", "unreachable since")
    start_broker(box.folder, 1)
    shell.at_prompt()
    shell.run("create-topic came-back --partitions 1 --replication-factor 1")
    shell.misses("unreachable since")
    shell.at_prompt()
    shell.type("topic came")
    shell.sees("1 × 1")
    shell.press("c-c")
    shell.at_prompt()
    shell.press("c-d")
    assert shell.ends() == 0


def test_ctrl_c_ends_a_request_that_is_never_answered(
    open_terminal: Open, sandbox: Sandbox
) -> None:
    shell = open_terminal("--broker", sandbox.bootstrap)
    shell.sees("as of")
    with frozen(sandbox):
        shell.run("list-topics")
        shell.until(lambda: shell.screen.cursor.x == 0)
        shell.press("c-c")
        shell.sees("interrupted")
        shell.at_prompt()
    name = f"after-{uuid4().hex[:8]}"
    shell.run(f"create-topic {name} --partitions 1 --replication-factor 1")
    shell.sees(f"created topic {name}")
    shell.at_prompt()
    shell.press("c-d")
    assert shell.ends() == 0
