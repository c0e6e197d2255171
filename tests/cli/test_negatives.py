"""Tests of how commands print negatives: changed words, changed lines of a graph, tables."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.cli.negatives import mark_changed_words, print_edit_table, print_negative
from graphneg.model import EditedPenman, Original, Turn
from tests.negative_samples import EXAMPLE

WORDS = st.lists(st.sampled_from(["I", "am", "not", "your", "old", "tea", "cup"]), max_size=8).map(" ".join)


def marked_words(text: object) -> str:
    """Return the marked words of a text, joined with spaces."""
    spans = [(span.start, span.end) for span in getattr(text, "spans", [])]
    plain = str(text)
    return " ".join(plain[start:end] for start, end in spans)


class TestChangedWords:
    def test_changed_words_are_marked_in_both_texts(self) -> None:
        before, after = mark_changed_words("I like black tea.", "I don't like tea.")
        assert (marked_words(before), marked_words(after)) == ("black", "don't")

    @given(WORDS, WORDS)
    def test_all_other_words_are_the_same_in_both_texts(self, old: str, new: str) -> None:
        before, after = mark_changed_words(old, new)
        assert (before.plain, after.plain) == (old, new)
        unmarked = [sorted(text.plain.split()) for text in (before, after)]
        for side, text in zip(unmarked, (before, after), strict=True):
            for word in marked_words(text).split():
                side.remove(word)
        assert unmarked[0] == unmarked[1]

    def test_equal_texts_have_no_marked_words(self) -> None:
        assert [marked_words(text) for text in mark_changed_words("Yes.", "Yes.")] == ["", ""]


class TestOneNegative:
    @pytest.fixture
    def lines(self, capsys: pytest.CaptureFixture[str]) -> list[str]:
        given = EXAMPLE.amr["2"]
        graphs = EditedPenman(f"# ::snt So.\n{given.before}", f"# ::snt So.\n{given.after}")
        print_negative(replace(EXAMPLE, amr={"2": graphs}), {0: "no-alignment: the graph has none"})
        shown = capsys.readouterr()
        assert "turn 0: the decoder gave no text: no-alignment" in shown.err
        return [" ".join(line.split()) for line in shown.out.splitlines()]

    def test_recipe_seed_and_decoder_are_shown(self, lines: Sequence[str]) -> None:
        assert lines[:2] == [EXAMPLE.id, "recipe deam, seed 7, target dialogue, decoder surface"]

    def test_the_error_and_its_evidence_are_shown(self, lines: Sequence[str]) -> None:
        assert lines[2] == (
            'error polarity_flip, evidence in turn 1: "Yes, I like it a lot.", distance in turns 1, proved, '
            f"pair {EXAMPLE.id}"
        )

    def test_only_the_edited_line_of_the_graph_is_marked(self, lines: Sequence[str]) -> None:
        graph = lines[lines.index("Graph of turn 2") : lines.index("The dialogue")]
        assert [line for line in graph if line.startswith(("+", "-"))] == ["+ :polarity -"]
        assert "::snt" not in " ".join(graph)

    def test_only_the_edited_turn_is_shown_twice(self, lines: Sequence[str]) -> None:
        table = lines[lines.index("The dialogue") :]
        assert [line for line in table if line.endswith((".", "?"))] == [
            "0 A Do you like the café?",
            "1 B Yes, I like it a lot.",
            "- 2 A I like it.",
            "+ I don't like it.",
        ]


class TestSomeNegatives:
    def test_a_table_shows_turns_before_and_after(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_edit_table([EXAMPLE])
        lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        assert "polarity_flip I like it. I don't like it." in lines
        assert lines[-1] == f"To see one of them in detail: graphneg negatives --explain {EXAMPLE.id}"

    def test_the_original_of_an_edited_context_turn_is_shown(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        loaded = (Turn("A", "Cocoa?"), *EXAMPLE.context[1:])
        edits = (replace(EXAMPLE.edits[0], turn=0),)
        edited = replace(EXAMPLE, original=Original(loaded, None), edits=edits)
        print_edit_table([edited])
        assert "Cocoa?" in capsys.readouterr().out

    def test_explain_is_not_suggested_for_negatives_without_graphs(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        print_edit_table([replace(EXAMPLE, amr={}, edits=())])
        assert "--explain" not in capsys.readouterr().out

    def test_no_negatives_print_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        print_edit_table([])
        assert capsys.readouterr().out == ""
