"""Tests of the report on negatives: hand-counted figures, cues, findings and models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.errors import InputError
from graphneg.evaluation.negatives.findings import Finding
from graphneg.evaluation.negatives.report import Report, measure
from graphneg.evaluation.negatives.sampling import (
    Distribution,
    Histogram,
    Text,
    TextPool,
    histogram_auc,
    measured,
)
from graphneg.evaluation.negatives.statistics import CategoryLine, Models, twins_auc
from graphneg.evaluation.negatives.wording import FEWEST, _features, _TfIdf, _trained, wording_auc
from graphneg.model import EditRecord, Negative, Original, Turn
from graphneg.records.files import write_jsonl, write_parquet
from tests.negative_samples import EXAMPLE

ASKED = (Turn("A", "Did you feed the cat?"),)
QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
THINGS = "cup door river shoe candle ladder window bottle spoon garden"
THINGS_TWICE = list(enumerate(THINGS.split() * 3))


def wrong(response: str, right: str | None = None, **values: object) -> Negative:
    """Return a wrong response to `ASKED`; `right` is the correct response that it replaces."""
    given: dict[str, object] = {
        "context": ASKED,
        "response": response,
        "original": Original(None, right),
        "categories": ("C-follow",),
        "recipe": "own",
        "target": "response",
        "edits": (),
        "amr": {},
        "scores": {},
        "pair": None,
    }
    return replace(EXAMPLE, **{**given, **values})


def right(response: str, **values: object) -> Negative:
    return wrong(response, label=1, categories=(), recipe="", **values)


def context_about(thing: object, number: int) -> dict[str, object]:
    turn = Turn("A", f"Have you seen the {thing} of house {number}?")
    return {"id": f"own/all/{number}#1~{thing}", "context": (turn,)}


def report_of(folder: Path, *records: Negative, **options: int) -> Report:
    write_jsonl(records, folder / "negatives.jsonl")
    return measure([folder / "negatives.jsonl"], **options)


def line_of(folder: Path, *records: Negative) -> CategoryLine:
    [line] = report_of(folder, *records).lines
    return line


def sentences(found: Sequence[Finding], level: str) -> str:
    return "\n".join(one.sentence for one in found if one.level == level)


class TestFigures:
    def test_length_overlap_and_voice_are_counted(self, tmp_path: Path) -> None:
        records = [
            wrong("I saw the cat of your aunt.", "Yes, it had fish."),
            wrong("Cats swim?", "Yes, it had fish."),
            right("Yes, it had fish."),
            right("You never feed it."),
        ]
        report = report_of(tmp_path, *records)
        [line] = report.lines
        assert (line.name, line.negatives, line.figures.texts) == ("own (C-follow)", 2, 2)
        assert line.figures.words == Distribution(4.5, 2, 2, 7)
        assert line.figures.shared.mean == 1
        assert line.figures.like_right is not None and line.figures.like_right.mean == 0
        assert (line.figures.questions, line.figures.first_person, line.figures.third_person) == (
            0.5,
            0.5,
            0.5,
        )
        reference = report.reference["response"]
        assert (reference.texts, reference.words.mean, reference.shared.mean) == (2, 4, 0.5)
        assert reference.second_person == 0.5
        assert line.words_ratio == 4.5 / 4

    def test_closeness_is_the_cosine_of_word_vectors(self, tmp_path: Path) -> None:
        line = line_of(tmp_path, wrong("Did you feed the cat?", "Feed the cat, did you?"))
        assert line.figures.to_context is not None and line.figures.to_right is not None
        assert line.figures.to_context.mean == pytest.approx(1, abs=1e-5)
        assert line.figures.to_right.mean == pytest.approx(1, abs=1e-5)

    def test_each_source_has_a_line_and_one_for_each_category_of_several(self, tmp_path: Path) -> None:
        report = report_of(
            tmp_path,
            wrong("No.", recipe="edits", categories=("C-cont",)),
            wrong("He did.", recipe="edits", categories=("C-ent", "C-cont")),
            wrong("Fish.", recipe="drawn", categories=("C-follow",)),
            wrong("Blue.", recipe="", categories=()),
        )
        assert [(line.name, line.negatives) for line in report.lines] == [
            ("drawn (C-follow)", 1),
            ("edits", 2),
            ("edits (C-cont)", 2),
            ("edits (C-ent)", 1),
            ("unnamed", 1),
        ]

    def test_repeats_and_correct_responses_are_counted(self, tmp_path: Path) -> None:
        line = line_of(
            tmp_path,
            right("It had fish."),
            wrong("Blue."),
            wrong(" blue. "),
            wrong("Blue.", **context_about("cup", 1)),
            wrong("it had  fish."),
            wrong("It had fish.", **context_about("cup", 1)),
        )
        assert (
            line.figures.texts,
            line.again,
            line.elsewhere,
            line.equal_to_right,
        ) == (5, 1, 5, 1)

    def test_an_original_counts_once_as_a_correct_response(self, tmp_path: Path) -> None:
        records = [wrong(text, "Yes, it had fish.") for text in ("No.", "It did not.", "Fish?")]
        assert report_of(tmp_path, *records, right("yes, it had fish.")).reference["response"].texts == 1

    def test_examples_show_the_original(self, tmp_path: Path) -> None:
        [example] = line_of(tmp_path, wrong("Blue.", "Yes.")).examples
        assert (example.context, example.text, example.right) == (("Did you feed the cat?",), "Blue.", "Yes.")

    @pytest.mark.parametrize("write", [write_jsonl, write_parquet])
    def test_both_forms_of_files_and_several_are_read(self, tmp_path: Path, write: object) -> None:
        one, two = tmp_path / f"one.{write.__name__[6:]}", tmp_path / "two.jsonl"
        write([wrong("Blue."), wrong("Green.")], one)
        write_jsonl([right("Yes.")], two)
        report = measure([one, two])
        assert (report.records, report.negatives, report.reference["response"].texts) == (3, 2, 1)


class TestEditedDialogues:
    TURNS = ("Is it far?", "No, it is near.", "Good, I am tired.")

    def edited(self, *after: str, **values: object) -> Negative:
        said = tuple(Turn("AB"[at % 2], text) for at, text in enumerate(self.TURNS))
        new = tuple(Turn("AB"[at % 2], text) for at, text in enumerate(after))
        return wrong(
            after[-1],
            context=new[:-1],
            original=Original(said[:-1], self.TURNS[-1]),
            target="dialogue",
            **values,
        )

    def test_each_edited_turn_is_compared_with_its_original(self) -> None:
        found = measured(self.edited("Is it far?", "No, it is far.", "Good, you are tired."))
        assert [(one.text, one.original, one.context) for one in found.wrong] == [
            ("No, it is far.", "No, it is near.", ("Is it far?",)),
            ("Good, you are tired.", "Good, I am tired.", ("Is it far?", "No, it is far.")),
        ]
        assert found.wrong[1].original_context == self.TURNS[:2]
        assert [one.text for one in found.right] == ["No, it is near.", "Good, I am tired."]

    def test_an_inserted_turn_has_no_original(self) -> None:
        [text] = measured(self.edited("Is it far?", "Blue.", "No, it is near.", "Good, I am tired.")).wrong
        assert (text.text, text.original, text.context) == ("Blue.", None, ("Is it far?",))

    def test_an_edit_has_the_category_of_its_turn(self) -> None:
        edit = EditRecord(1, "x", "C-ent", "", "", "")
        after = ("Is it far?", "No, it is far.", "Good, you are tired.")
        found = measured(self.edited(*after, edits=(edit,), categories=("C-ent", "C-speaker")))
        assert [one.categories for one in found.wrong] == [("C-ent",), ("C-ent", "C-speaker")]

    def test_dialogues_with_only_deleted_turns_are_not_measured(self, tmp_path: Path) -> None:
        shorter = self.edited("Is it far?", "Good, I am tired.")
        report = report_of(tmp_path, shorter, self.edited("Is it far?", "No.", "Good, I am tired."))
        assert (report.negatives, report.unsaid) == (2, 1)
        assert report.reference["dialogue"].texts == 1


class TestFindings:
    def test_negatives_equal_to_correct_responses_are_a_fault(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, right("Yes."), wrong("yes."))
        assert "1 of 1 are correct responses of their own contexts" in sentences(report.findings, "wrong")

    def test_longer_negatives_are_suspicious(self, tmp_path: Path) -> None:
        records = [
            wrong(
                f"I put the {thing} and the {thing} here {k}", f"The {thing} {k}.", **context_about(thing, k)
            )
            for k in range(4)
            for thing in THINGS.split()
        ]
        report = report_of(tmp_path, *records)
        assert report.lines[0].cue_auc["length"] == 1
        assert "they are 3.0 times as long as correct responses (9.0 words against 3.0)" in sentences(
            report.findings, "suspicious"
        )

    def test_a_word_that_only_negatives_have_is_named(self, tmp_path: Path) -> None:
        records = [
            record
            for k in range(4)
            for thing in THINGS.split()
            for record in (
                wrong(f"The {thing} hums.", **context_about(thing, k)),
                right(f"The {thing} {'sings' if k % 2 else 'rings'}.", **context_about(thing, k)),
            )
        ]
        report = report_of(tmp_path, *records)
        assert report.lines[0].cue_auc["words"] == 1 and report.lines[0].cue_auc["length"] == 0.5
        assert '("hums")' in sentences(report.findings, "suspicious")

    def test_negatives_like_correct_responses_are_good(self, tmp_path: Path) -> None:
        things = THINGS.split()
        records = [
            wrong(
                f"The {things[(at + k + 1) % 10]} of {things[at]}.",
                f"The {things[(at + k + 5) % 10]} of {things[at]}.",
                **context_about(k, at),
            )
            for k in range(4)
            for at in range(10)
        ]
        assert [one.level for one in report_of(tmp_path, *records).findings] == ["good"]

    def test_few_negatives_say_little(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, wrong("I would like to put this in many words.", "No."))
        assert [one.level for one in report.findings] == ["note"]
        assert set(report.lines[0].cue_auc.values()) == {None}

    def test_missing_correct_responses_are_reported(self, tmp_path: Path) -> None:
        records = [
            wrong(f"The {thing} {k}.", **context_about(thing, k))
            for k in range(2)
            for thing in THINGS.split()
        ]
        report = report_of(tmp_path, *records)
        assert not report.reference and not report.lines[0].cue_auc
        assert "graphneg export" in sentences(report.findings, "note")


class TestModels:
    class FishJudge:
        def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
            assert all(contexts)
            return [0.5 if "fish" in text else 0.49 for text in responses]

        def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
            return list(range(len(candidates)))

    class LengthLosses:
        """Return a tenth of the number of letters as the loss, and infinity for a text without words."""

        def score(self, texts: Sequence[str]) -> list[float]:
            return [len(text) / 10 if text.strip(".") else math.inf for text in texts]

    def test_a_judge_and_a_language_model_are_asked_about_each_text(self, tmp_path: Path) -> None:
        from graphneg.nn.embedders import get_embedder

        records = [wrong("No fish.", "It had fish."), wrong("Blue.", "It had fish."), wrong("...", "No.")]
        write_jsonl(records, tmp_path / "own.jsonl")
        models = Models(get_embedder("glove-50d"), self.LengthLosses(), self.FishJudge())  # type: ignore[arg-type]
        report = measure([tmp_path / "own.jsonl"], models=models)
        [line] = report.lines
        assert line.figures.judged_right == pytest.approx(1 / 3)
        assert report.reference["response"].judged_right == 0.5
        assert line.figures.perplexity is not None and line.perplexity_ratio is not None
        assert line.figures.perplexity.mean == pytest.approx(math.exp((0.8 + 0.5) / 2))
        assert line.perplexity_ratio == pytest.approx(math.exp(0.65 - (1.2 + 0.3) / 2))


TEXTS = [Text(f"own/{k}", "response", (), (), f"Text {k}") for k in range(12)]


class TestSampling:
    @QUICK
    @given(st.permutations(TEXTS), st.integers(0, 9))
    def test_the_same_seed_draws_the_same_in_any_order(self, texts: list[Text], seed: int) -> None:
        drawn = []
        for order in (TEXTS, texts):
            pool = TextPool(5, seed)
            for text in order:
                pool.add(text)
            drawn.append(pool.sample.items())
        assert drawn[0] == drawn[1] and len(drawn[0]) == 5

    def test_figures_that_are_counted_do_not_depend_on_the_sample(self, tmp_path: Path) -> None:
        records = [
            wrong(f"The {thing} {k}.", "Yes.", **context_about(thing, k))
            for k in range(5)
            for thing in THINGS.split()
        ]
        whole, part = report_of(tmp_path, *records), report_of(tmp_path, *records, sample=10)
        assert part.lines[0].figures.sampled == 10
        assert part.lines[0].figures.words == whole.lines[0].figures.words
        assert part.lines[0].examples == whole.lines[0].examples


class TestAreas:
    @QUICK
    @given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
    def test_an_area_is_the_share_of_pairs(self, some: list[int], others: list[int]) -> None:
        won = sum((a > b) + (a == b) / 2 for a in some for b in others)
        assert histogram_auc(Histogram(some), Histogram(others)) == pytest.approx(
            won / (len(some) * len(others))
        )

    @QUICK
    @given(st.lists(st.integers(0, 20), min_size=1))
    def test_quartiles_part_the_values(self, values: list[int]) -> None:
        median = Histogram(values).quantile(0.5)
        assert sum(value <= median for value in values) * 2 >= len(values)
        assert sum(value >= median for value in values) * 2 >= len(values)

    def test_words_of_too_few_texts_are_no_cue(self) -> None:
        few = [Text("own/1", "response", (), (), "Hm.")] * (FEWEST - 1)
        assert wording_auc(few, few * 2) is None

    def test_pairs_of_words_tell_what_words_do_not(self) -> None:
        said = [f"{thing} {other} run" for thing in THINGS.split() for other in THINGS.split()]
        ours = [Text(text, "response", (text,), (), f"not {text} so") for text in said]
        theirs = [Text(text, "response", (text,), (), f"so {text} not") for text in said]
        assert wording_auc(ours, theirs) == 1.0

    def test_equal_texts_can_not_be_told_apart(self) -> None:
        texts = [Text(str(at), "response", (str(at),), (), f"I saw the {one}.") for at, one in THINGS_TWICE]
        assert wording_auc(texts, texts) == 0.5

    def test_the_same_result_as_of_scikit_learn(self) -> None:
        pytest.importorskip("sklearn")
        from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

        said = [f"{first} {second} {third}" for first in "abcd" for second in "efgh" for third in "ijkl"]
        texts, wrong = said + said[::3] * 2, [at % 3 == 0 or "b g" in one for at, one in enumerate(said * 2)]
        labels = wrong[: len(texts)]
        counts = [_features(text) for text in texts]
        weights = _TfIdf(counts)
        found = _trained(weights.matrix(counts), np.array(labels), weights.width)
        vectors = TfidfVectorizer(analyzer=lambda text: list(_features(text).elements()), min_df=2)
        model = LogisticRegression(tol=1e-8, max_iter=10_000).fit(vectors.fit_transform(texts), labels)
        assert found[:-1] == pytest.approx(model.coef_[0], abs=1e-2)
        assert found[-1] == pytest.approx(model.intercept_[0], abs=1e-2)

    def test_only_negatives_with_a_twin_are_compared_with_twins(self) -> None:
        wrong = [
            Text(str(at), "response", (str(at),), (), f"I never saw the {one}.", pair=str(at))
            for at, one in THINGS_TWICE
        ]
        twins = {
            text.pair or "": Text(
                text.id, "response", text.original_context, (), text.text.replace("never ", "")
            )
            for text in wrong
        }
        assert twins_auc(wrong, twins) == 1.0
        assert twins_auc(wrong, dict(list(twins.items())[: FEWEST - 1])) is None
        assert twins_auc([Text("1", "response", (), (), "Hm.")] * FEWEST, twins) is None


class TestWrongInput:
    def test_a_label_is_neither_0_nor_1(self, tmp_path: Path) -> None:
        write_jsonl([wrong("No."), wrong("No.", label=3)], tmp_path / "own.jsonl")
        with pytest.raises(InputError, match=r"own\.jsonl, line 2: the label of .* is 3, but must be 1"):
            measure([tmp_path / "own.jsonl"])

    def test_a_file_without_negatives_is_refused(self, tmp_path: Path) -> None:
        write_jsonl([right("Yes.")], tmp_path / "own.jsonl")
        with pytest.raises(InputError, match=r"own\.jsonl: none of the 1 records is a negative"):
            measure([tmp_path / "own.jsonl"])
