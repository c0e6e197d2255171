"""Negatives for people: a few in a table, or one with its graphs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import penman
from rich.table import Table
from rich.text import Text

from graphneg.cli.terminal import note, plain_table, results
from graphneg.model import Negative

GONE, NEW, QUIET = "red", "green", "dim"
INDENT = 3


def show_briefly(negatives: Sequence[Negative]) -> None:
    """A table: each edited turn, what it said and says, and the edits of its graph."""
    if not negatives:
        return
    table = plain_table("edit", "before", "after")
    table.columns[1].ratio = table.columns[2].ratio = 1
    table.columns[0].no_wrap = True
    for negative in negatives:
        original, edited = turns_before(negative), turns_after(negative)
        for edit in negative.edits:
            turn = int(edit["turn"])
            before, after = worded(original[turn][1], edited[turn][1])
            table.add_row(Text(edit["transform"], "bold"), before, after)
            graphs = (Text(edit[name], QUIET) for name in ("before", "after"))
            table.add_row(Text(f"{edit['category']}, turn {turn}", QUIET), *graphs)
        table.add_section()
    results().print(table)
    if edited := next((one for one in negatives if one.amr), None):
        closely = f"graphneg negatives --explain {edited.id}"
        results().print(f"[dim]One of them closely:[/] {closely}", soft_wrap=True)


def show_closely(negative: Negative, refused: Mapping[int, str]) -> None:
    """The edits, each edited graph beside its original, and the dialogue with its edited turns."""
    console = results()
    console.print(Text(negative.id, "bold"), soft_wrap=True)
    made = {name: getattr(negative, name) for name in ("recipe", "seed", "target", "decoder")}
    console.print(Text(", ".join(f"{name} {value}" for name, value in made.items()), QUIET))
    console.print()
    console.print(_edit_table(negative.edits))
    for turn, graphs in negative.amr.items():
        console.print(_graph_table(turn, graphs["before"], graphs["after"]))
    console.print(_dialogue_table(negative))
    for turn, reason in refused.items():
        note(f"turn {turn}: the decoder gave no text: {reason}")


def turns_before(negative: Negative) -> list[tuple[str, str]]:
    """Speaker and text of each turn as it was loaded."""
    context = negative.original["context"]
    kept = negative.context if context is None else context
    response = negative.original["response"]
    said = [(turn["speaker"], turn["text"]) for turn in kept]
    return [*said, ("", negative.response if response is None else response)]


def turns_after(negative: Negative) -> list[tuple[str, str]]:
    """Speaker and text of each turn of the negative."""
    return [*((turn["speaker"], turn["text"]) for turn in negative.context), ("", negative.response)]


def worded(before: str, after: str) -> tuple[Text, Text]:
    """Two texts, with the words in which they differ marked."""
    old, new = before.split(), after.split()
    left, right = Text(), Text()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        _append(left, old[a:b], "" if tag == "equal" else f"bold {GONE}")
        _append(right, new[c:d], "" if tag == "equal" else f"bold {NEW}")
    return left, right


def _append(text: Text, words: Sequence[str], style: str) -> None:
    if words:
        text.append(" " if text else "").append(" ".join(words), style)


def _edit_table(edits: Iterable[Mapping[str, Any]]) -> Table:
    table = plain_table("turn", "transform", "category", "node", "before", "after", title="What changed")
    for edit in edits:
        names = (str(edit[name]) for name in ("turn", "transform", "category", "node"))
        table.add_row(*names, Text(edit["before"], GONE), Text(edit["after"], NEW))
    return table


def _graph_table(turn: str, before: str, after: str) -> Table:
    """Two PENMAN texts line by line; brackets at a line's end and indentation are no difference."""
    table = plain_table("original", "edited", title=f"Graph of turn {turn}")
    table.columns[0].ratio = table.columns[1].ratio = 1
    table.expand = True
    old, new = _lines(before), _lines(after)
    matcher = SequenceMatcher(None, list(map(_bare, old)), list(map(_bare, new)), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        left = [_marked("  " if tag == "equal" else "- ", line, GONE) for line in old[a:b]]
        right = [_marked("  " if tag == "equal" else "+ ", line, NEW) for line in new[c:d]]
        for i in range(max(len(left), len(right))):
            table.add_row(left[i] if i < len(left) else "", right[i] if i < len(right) else "")
    return table


def _lines(text: str) -> list[str]:
    """A graph with narrow indentation, so that two fit side by side."""
    lines = penman.format(penman.parse(text), indent=INDENT).splitlines()
    return [line for line in lines if not line.startswith("#")]


def _bare(line: str) -> str:
    return line.strip().rstrip(")")


def _marked(mark: str, line: str, style: str) -> Text:
    return Text(mark + line, style if mark.strip() else "")


def _dialogue_table(negative: Negative) -> Table:
    table = plain_table("", "turn", "speaker", "text", title="The dialogue")
    table.columns[1].justify = "right"
    for turn, (old, new) in enumerate(zip(turns_before(negative), turns_after(negative), strict=True)):
        if old == new:
            table.add_row("", str(turn), *map(Text, new))
            continue
        before, after = worded(old[1], new[1])
        table.add_row(Text("-", GONE), str(turn), Text(old[0]), before)
        table.add_row(Text("+", NEW), "", "", after)
    return table
