"""Completion of features and their levels."""

from __future__ import annotations

from kafka_shell.base.structs import replace
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.view.candidates import NONE, Candidate, Candidates, Catalog, pick
from kafka_shell.view.match import LIMIT


def offer_conditions(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return the words of a condition of `wait-until`; after `lag` the groups."""
    word, blank, rest = request.prefix.partition(" ")
    if word == "lag" and blank:
        inner = known.names("groups", rest)
        offered = (replace(each, text=f"lag {each.text} < 1000") for each in inner.offered)
        return replace(inner, offered=tuple(offered))
    return pick({"healthy": "health finds no problem", "lag": "lag GROUP < 1000"}, request.prefix)


def offer_features(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return the features with their levels, or the supported levels of a feature."""
    features = {feature.name: feature for feature in known.view.features.value}
    if request.part != "value":

        def about(name: str) -> tuple[str, str]:
            each = features[name]
            now = f"level {each.level}" if each.level else "off"
            label = f" ({each.release})" if each.release else ""
            more = f"  up to {each.highest}" if each.highest > each.level else ""
            return now + label + more, ""

        return pick(features, request.prefix, about, request.tail)
    each = features.get(request.key)
    if each is None:
        return NONE
    marks = {0: ("off", "")}
    marks[each.highest] = ("highest level", "")
    marks[each.level] = (f"now {each.release}".rstrip(), "override")
    levels = [*range(each.highest, max(each.lowest, 1) - 1, -1), 0]
    fitting = [level for level in dict.fromkeys(levels) if str(level).startswith(request.prefix)]
    return Candidates(
        tuple(Candidate(str(level), *marks.get(level, ("", ""))) for level in fitting[:LIMIT]),
        max(0, len(fitting) - LIMIT),
    )
