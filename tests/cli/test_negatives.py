"""How negatives are shown to people: the words that differ, graphs side by side, a choice of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.cli.negatives import show_briefly, show_closely, worded
from graphneg.model import EditedPenman, Original, Turn
from tests.negative_samples import EXAMPLE

WORDS = st.lists(st.sampled_from(["I", "am", "not", "your", "old", "tea", "cup"]), max_size=8).map(" ".join)


def marked(text: object) -> str:
    """The words of a text that are marked, joined."""
    spans = [(span.start, span.end) for span in getattr(text, "spans", [])]
    plain = str(text)
    return " ".join(plain[start:end] for start, end in spans)


class TestWordsThatDiffer:
    def test_are_marked_on_both_sides(self) -> None:
        before, after = worded("I like black tea.", "I don't like tea.")
        assert (marked(before), marked(after)) == ("black", "don't")

    @given(WORDS, WORDS)
    def test_nothing_is_lost_and_the_unmarked_words_are_the_same(self, old: str, new: str) -> None:
        before, after = worded(old, new)
        assert (before.plain, after.plain) == (old, new)
        unmarked = [sorted(text.plain.split()) for text in (before, after)]
        for side, text in zip(unmarked, (before, after), strict=True):
            for word in marked(text).split():
                side.remove(word)
        assert unmarked[0] == unmarked[1]

    def test_texts_that_are_the_same_have_no_mark(self) -> None:
        assert [marked(text) for text in worded("Yes.", "Yes.")] == ["", ""]


class TestOneNegative:
    @pytest.fixture
    def lines(self, capsys: pytest.CaptureFixture[str]) -> list[str]:
        given = EXAMPLE.amr["2"]
        graphs = EditedPenman(f"# ::snt So.\n{given.before}", f"# ::snt So.\n{given.after}")
        show_closely(replace(EXAMPLE, amr={"2": graphs}), {0: "no-alignment: the graph has none"})
        shown = capsys.readouterr()
        assert "turn 0: the decoder gave no text: no-alignment" in shown.err
        return [" ".join(line.split()) for line in shown.out.splitlines()]

    def test_is_shown_with_what_made_it(self, lines: Sequence[str]) -> None:
        assert lines[:2] == [EXAMPLE.id, "recipe deam, seed 7, target dialogue, decoder surface"]

    def test_is_shown_with_its_error_and_the_evidence(self, lines: Sequence[str]) -> None:
        assert lines[2] == (
            'error polarity_flip, evidence in turn 1: "Yes, I like it a lot.", distance in turns 1, proved, '
            f"pair {EXAMPLE.id}"
        )

    def test_has_the_edited_line_of_its_graph_alone_marked(self, lines: Sequence[str]) -> None:
        graph = lines[lines.index("Graph of turn 2") : lines.index("The dialogue")]
        assert [line for line in graph if line.startswith(("+", "-"))] == ["+ :polarity -"]
        assert "::snt" not in " ".join(graph)

    def test_has_only_its_edited_turn_twice(self, lines: Sequence[str]) -> None:
        table = lines[lines.index("The dialogue") :]
        assert [line for line in table if line.endswith((".", "?"))] == [
            "0 A Do you like the café?",
            "1 B Yes, I like it a lot.",
            "- 2 A I like it.",
            "+ I don't like it.",
        ]


class TestSomeNegatives:
    def test_are_a_table_of_turns_before_and_after(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_briefly([EXAMPLE])
        lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        assert "polarity_flip I like it. I don't like it." in lines
        assert lines[-1] == f"To see one of them in detail: graphneg negatives --explain {EXAMPLE.id}"

    def test_an_edited_turn_of_the_context_is_shown_as_it_was(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        loaded = (Turn("A", "Cocoa?"), *EXAMPLE.context[1:])
        edits = (replace(EXAMPLE.edits[0], turn=0),)
        edited = replace(EXAMPLE, original=Original(loaded, None), edits=edits)
        show_briefly([edited])
        assert "Cocoa?" in capsys.readouterr().out

    def test_that_edit_no_graph_offer_no_closer_look(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_briefly([replace(EXAMPLE, amr={}, edits=())])
        assert "--explain" not in capsys.readouterr().out

    def test_of_none_nothing_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_briefly([])
        assert capsys.readouterr().out == ""
