"""Reviews: what is drawn, that nothing in a sheet gives its source away, what comes of it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.drawing import PEOPLE, draw
from graphneg.evaluation.review.exchange import (
    FORMS,
    key_path,
    label_studio_config,
    labels_of,
    read_gold,
    read_judgements,
    read_key,
    write_blank_sheet,
    write_judgements,
)
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import ADJUDICATOR, CLAIMED, Judgement, Judgements
from graphneg.evaluation.review.questions import load_questions, ready_questions
from graphneg.evaluation.review.results import Results, results_of
from graphneg.model import Negative
from graphneg.records.files import write_jsonl
from tests.cli_runs import command_line
from tests.negative_samples import EXAMPLE

COLUMNS = ("row", "context", "response", "grammatical", "sensible", "verdict")


def negative(context: int, response: str, name: str, **others: object) -> Negative:
    """A wrong response to one of the contexts that `people` has, too."""
    turns = tuple({"speaker": who, "text": f"Turn {who} of {context}."} for who in ("Ann", "Ben"))
    made = replace(EXAMPLE, id=f"{name}/{context}/{response}", context=turns, response=response)
    return replace(made, recipe=name, target="response", **others)


def generated(name: str, amount: int) -> list[Negative]:
    edit = {**EXAMPLE.edits[0], "transform": name}
    return [negative(at, f"{name} says {at}.", name, edits=(edit,), amr={}) for at in range(amount)]


def people(folder: Path, amount: int) -> Path:
    """Contexts, of which those of even number have wrong responses of people."""
    lines: list[str] = []
    for at in range(amount):
        wrong = [f"People say {at}.", f"Again {at}."] if at % 2 == 0 else []
        turns = [f"Turn Ann of {at}.", f"Turn Ben of {at}."]
        facts = {"id": at, "context": turns, "positive_responses": ["Yes."]}
        lines.append(json.dumps({**facts, "adversarial_negative_responses": wrong}))
    path = folder / "adversarial.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def sources(tmp_path: Path) -> tuple[list[str], Path]:
    """Two files of negatives, and contexts with responses of people."""
    files: list[str] = []
    for name, made in (("hard", generated("hard", 12)), ("edits", [])):
        made = made or [negative(at, f"Edited {at}.", "all") for at in range(4, 12)]
        write_jsonl(made, tmp_path / f"{name}.jsonl")
        files.append(str(tmp_path / f"{name}.jsonl"))
    return files, people(tmp_path, 12)


def filled(path: Path, **words: str) -> Path:
    """The sheet with the same words in all rows but the last."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:-1]:
        row.update(words)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    return path


def read(sheet: Path, key: Path | None = None) -> Results:
    """What a filled sheet says."""
    known = read_key(key or key_path(sheet))
    return results_of(known, read_judgements(known, sheet))


class TestDrawing:
    def test_every_source_gives_as_many(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        drawn = draw(files, [human], each=3)
        names = [row.source for row in drawn.set.items]
        assert sorted(names) == sorted(["hard", "edits", PEOPLE] * 3)
        assert not drawn.too_few

    def test_contexts_that_all_have_come_first(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        drawn = draw(files, [human], each=4)
        places = {
            name: {row.place for row in drawn.set.items if row.source == name} for name in ("hard", PEOPLE)
        }
        assert places["hard"] == places[PEOPLE] and len(places["hard"]) == 4

    def test_a_second_one_of_a_context_comes_when_all_have_one(self, sources: tuple[list[str], Path]) -> None:
        drawn = draw([], [sources[1]], each=9)
        assert (
            len({row.place for row in drawn.set.items}) == 6 and len({row.id for row in drawn.set.items}) == 9
        )

    def test_the_seed_decides_and_the_order_tells_nothing(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        one, again, other = (draw(files, [human], each=6, seed=seed) for seed in (1, 1, 2))
        assert one == again and one.set != other.set
        names = [row.source for row in one.set.items]
        assert names != sorted(names)

    def test_what_is_missing_and_left_out_is_counted(self, tmp_path: Path) -> None:
        some = [*generated("hard", 2), replace(EXAMPLE, label=1), replace(EXAMPLE, target="dialogue")]
        write_jsonl(some, tmp_path / "hard.jsonl")
        drawn = draw([str(tmp_path / "hard.jsonl")], each=5)
        assert drawn.too_few == {"hard": 3} and drawn.left_out == 2

    def test_sources_need_names_of_their_own(self, sources: tuple[list[str], Path]) -> None:
        files, _ = sources
        with pytest.raises(InputError, match="a source named hard is there already; write NAME="):
            draw([files[0], files[0]])
        assert {row.source for row in draw([files[0], f"b={files[0]}"]).set.items} == {"hard", "b"}

    def test_files_without_wrong_responses_are_refused(self, tmp_path: Path) -> None:
        write_jsonl([replace(EXAMPLE, label=1)], tmp_path / "right.jsonl")
        with pytest.raises(InputError, match=r"right\.jsonl: no wrong response"):
            draw([str(tmp_path / "right.jsonl")])
        with pytest.raises(InputError, match="nothing to draw from"):
            draw([])


class TestTheSheet:
    def test_it_is_blind(self, sources: tuple[list[str], Path], tmp_path: Path) -> None:
        files, human = sources
        write_blank_sheet(draw(files, [human], each=6).set, tmp_path / "sheet.csv")
        with (tmp_path / "sheet.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert tuple(rows[0]) == COLUMNS and len(rows) == 18
        assert [row["row"] for row in rows] == [str(at) for at in range(1, 19)]
        for row in rows:  # speakers have the same names in all sources
            assert [line[:3] for line in row["context"].split("\n")] == ["A: ", "B: "]
            assert not any(row[name] for name in ("grammatical", "sensible", "verdict"))

    def test_nothing_is_written_over(self, sources: tuple[list[str], Path], tmp_path: Path) -> None:
        drawn = draw(sources[0], each=2)
        write_blank_sheet(drawn.set, tmp_path / "sheet.csv")
        with pytest.raises(InputError, match="such a file already"):
            write_blank_sheet(drawn.set, tmp_path / "sheet.csv")
        write_blank_sheet(drawn.set, tmp_path / "sheet.csv", overwrite=True)


class TestReading:
    @pytest.fixture
    def sheet(self, sources: tuple[list[str], Path], tmp_path: Path) -> Path:
        """A sheet in which the last row is not filled."""
        files, human = sources
        write_blank_sheet(draw(files, [human], each=6).set, tmp_path / "sheet.csv")
        return filled(tmp_path / "sheet.csv", grammatical="Yes", sensible="y", verdict="WRONG")

    def test_shares_come_by_source_and_by_transform(self, sheet: Path) -> None:
        found = read(sheet)
        assert [line.name for line in found.sources] == ["edits", "hard", PEOPLE]
        assert [line.name for line in found.transforms] == ["negate"]
        assert len(found.labels) == 17 and found.unfilled == 1
        full = next(line for line in found.sources if line.read == 6)
        assert (
            full.shares["usable"].value == full.shares["grammatical"].value == 1
            and full.shares["right"].value == 0
        )
        assert full.shares["usable"].low == pytest.approx(0.6097, abs=1e-4)  # Wilson's for six of six

    def test_usable_is_grammatical_and_sensible_and_wrong(self, sheet: Path) -> None:
        for faulty in ({"grammatical": "no"}, {"sensible": "n"}, {"verdict": "arguable"}):
            good = {"grammatical": "yes", "sensible": "yes", "verdict": "w"}
            found = read(filled(sheet, **{**good, **faulty}))
            assert all(line.shares["usable"].value == 0 for line in found.sources)
            is_arguable = faulty.get("verdict") == "arguable"
            assert all(line.shares["arguable"].value == is_arguable for line in found.sources)

    def test_a_strange_word_is_named_with_its_line(self, sheet: Path) -> None:
        with pytest.raises(InputError, match=r"sheet\.csv:3: verdict is 'so-so'; write wrong or arg"):
            read(filled(sheet, verdict="so-so"))

    def test_the_key_must_be_there_and_be_one(self, sheet: Path) -> None:
        key = key_path(sheet)
        kept = key.rename(key.with_name("kept.json"))
        with pytest.raises(InputError, match=r"sheet\.key\.json: there is no such key; .* --key"):
            read(sheet)
        assert len(read(sheet, kept).labels) == 17
        key.write_text("[]", encoding="utf-8")
        with pytest.raises(InputError, match="no key of a sheet"):
            read(sheet)

    def test_texts_must_be_those_that_were_drawn(self, sheet: Path) -> None:
        with pytest.raises(InputError, match="row 1 has another context or response"):
            read(filled(sheet, response="Other."))

    def test_rows_that_were_cut_off_are_unfilled(self, sheet: Path) -> None:
        whole = sheet.read_text(encoding="utf-8").splitlines(keepends=True)
        sheet.write_text("".join(whole[: 1 + 2 * 5]), encoding="utf-8")
        found = read(sheet)
        assert len(found.labels) == 5 and found.unfilled == 13

    def test_an_empty_sheet_says_what_to_write(self, sheet: Path) -> None:
        with pytest.raises(InputError, match="no row is filled; write yes or no"):
            read(filled(sheet, verdict=""))


def small_set(annotators: int = 0, questions: str = "usable", items: int = 6, gold: int = 0) -> ReviewSet:
    """A set of items, the first ``gold`` of which have right answers."""
    known = {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"}
    made = [
        Item(
            "hard" if at % 2 else "edits",
            f"i{at}",
            (("Ann", f"Hello {at}."), ("Ben", "Hi\u2028you, <script>alert(1)</script>.")),
            f'Response {at}, "quoted".',
            ("negate",) if at % 2 == 0 else (),
            known if at < gold else {},
        )
        for at in range(items)
    ]
    return ReviewSet(FORMAT, 7, load_questions(questions), tuple(made), annotators)


USABLE = {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"}
RIGHT = {**USABLE, "verdict": "right"}


class TestQuestions:
    @pytest.mark.parametrize("name", ready_questions())
    def test_ready_ones_have_keys_and_guidelines(self, name: str) -> None:
        found = load_questions(name)
        assert found.name == name and found.guidelines and found.title and found.counted

    def test_there_are_four(self) -> None:
        assert ready_questions() == ["categories", "contradiction", "hardness", "usable"]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"questions": []}, "there is no question in it"),
            ({"name": 3}, r"Expected `str`, got `int` - at `\$.name`"),
            ({"more": 1}, "unknown field `more`"),
            ({"questions": [{"name": "row", "text": "?", "answers": []}]}, "can't be called 'row'"),
            ({"questions": [{"name": "a", "text": "?", "answers": [{"value": "x"}]}]}, "two answers or more"),
            (
                {"questions": [{"name": "a", "text": "?", "answers": [{"value": "x"}, {"value": "x"}]}]},
                "is empty or comes twice",
            ),
            (
                {
                    "questions": [
                        {"name": "a", "text": "?", "answers": [{"value": "x", "key": "u"}, {"value": "y"}]}
                    ]
                },
                "key 'u' is no small letter, comes twice, or is one of u, s, c, g, which undo, skip",
            ),
            ({"shares": {"good": {"a": "z"}}}, "share good: a has no answer 'z'"),
        ],
    )
    def test_faults_are_named_with_their_place(
        self, tmp_path: Path, change: dict[str, object], message: str
    ) -> None:
        answers = [{"value": "x"}, {"value": "y"}]
        good = {"name": "mine", "title": "T", "questions": [{"name": "a", "text": "?", "answers": answers}]}
        path = tmp_path / "mine.json"
        path.write_text(json.dumps(good), encoding="utf-8")
        assert dict(load_questions(str(path)).counted) == {"x": {"a": "x"}, "y": {"a": "y"}}
        path.write_text(json.dumps({**good, **change}), encoding="utf-8")
        with pytest.raises(InputError, match=rf"mine\.json: .*{message}"):
            load_questions(str(path))

    def test_an_unknown_name_lists_the_known(self) -> None:
        with pytest.raises(InputError, match="no questions are called 'usble': categories, contradiction"):
            load_questions("usble")


class TestJudgements:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "j.sqlite"

    def test_each_annotator_has_an_order_of_their_own(self) -> None:
        set = small_set(items=30)
        assert set.order("ann") == set.order("ann") != set.order("ben")
        assert sorted(set.order("ann")) == list(range(1, 31))

    def test_a_session_goes_on_where_it_was(self, path: Path) -> None:
        with Judgements.create(path, small_set()) as judged:
            order = judged.set.order("ann")
            assert judged.next_row("ann") == order[0] == judged.next_row("ann")
            judged.judge(order[0], "ann", USABLE, " so ")
            assert judged.next_row("ann") == order[1]
        with Judgements.open(path) as again:
            assert again.set == small_set()
            assert again.next_row("ann") == order[1]
            assert [(one.row, one.comment) for one in again.all()] == [(order[0], "so")]

    def test_what_was_skipped_comes_last_and_undo_brings_back(self, path: Path) -> None:
        with Judgements.create(path, small_set(items=3)) as judged:
            first, second, third = judged.set.order("ann")
            judged.skip(first, "ann")
            judged.judge(second, "ann", USABLE, "kept")
            assert judged.next_row("ann") == third
            assert judged.undo("ann") == second == judged.next_row("ann")
            assert judged.comment(second, "ann") == "kept" and not judged.all()
            for row in (second, third):
                judged.judge(row, "ann", USABLE)
            assert judged.next_row("ann") == first
            judged.judge(first, "ann", USABLE)
            assert judged.next_row("ann") is None and judged.standing("ann").open == 0
            assert judged.undo("ben") is None

    def test_an_item_goes_to_as_many_as_were_asked_for(self, path: Path) -> None:
        with Judgements.create(path, small_set(annotators=2, gold=1)) as judged:
            for name in ("ann", "ben", "cleo", "dora"):
                while (row := judged.next_row(name)) is not None:
                    judged.judge(row, name, USABLE)
            counts = [len(said) for said in results_of(judged.set, judged.all()).by_row.values()]
        assert counts == [4, 2, 2, 2, 2, 2]  # the gold item, which everybody judges, and the others

    def test_what_somebody_sees_is_kept_for_them_for_a_while(self, path: Path) -> None:
        with Judgements.create(path, small_set(annotators=1, items=1)) as judged:
            judged.now = lambda: 1000.0
            assert judged.next_row("ann") == 1 and judged.next_row("ben") is None
            judged.now = lambda: 1001.0 + CLAIMED
            assert judged.next_row("ben") == 1

    def test_gold_items_measure_an_annotator(self, path: Path) -> None:
        with Judgements.create(path, small_set(gold=2)) as judged:
            judged.judge(1, "ann", USABLE)
            judged.judge(2, "ann", RIGHT)
            judged.judge(3, "ann", RIGHT)
            assert judged.standing("ann") == (3, 0, 3, 5, 6)

    def test_two_open_files_see_each_other(self, path: Path) -> None:
        with Judgements.create(path, small_set(annotators=1)) as one, Judgements.open(path) as other:
            rows = {one.next_row("ann"), other.next_row("ben")}
            assert len(rows) == 2
            one.judge(3, "ann", USABLE)
            assert [judgement.row for judgement in other.all()] == [3]

    @pytest.mark.parametrize(
        ("row", "answers", "message"),
        [
            (9, USABLE, "row 9: there are rows 1 to 6"),
            (1, {"grammatical": "yes"}, "row 1: sensible is not answered"),
            (1, {**USABLE, "verdict": "bad"}, "verdict is 'bad'; write wrong or arguable or right"),
            (1, {**USABLE, "more": "x"}, "no question is called 'more'"),
        ],
    )
    def test_wrong_answers_are_refused(
        self, path: Path, row: int, answers: dict[str, str], message: str
    ) -> None:
        with Judgements.create(path, small_set()) as judged:
            with pytest.raises(InputError, match=message):
                judged.judge(row, "ann", answers)
            assert not judged.all()

    @pytest.mark.parametrize("name", ["", "  ", "a" * 61, "a/b", "<b>", ADJUDICATOR])
    def test_names_are_plain(self, path: Path, name: str) -> None:
        with Judgements.create(path, small_set()) as judged, pytest.raises(InputError, match="is no name"):
            judged.next_row(name)

    def test_other_files_are_refused(self, path: Path) -> None:
        with pytest.raises(InputError, match="there is no such file of judgements"):
            Judgements.open(path)
        path.write_text("no database, but a text that is long enough to be taken for one" * 50)
        with pytest.raises(InputError, match=r"j\.sqlite: no file of judgements, or damaged"):
            Judgements.open(path)
        with pytest.raises(InputError, match="such a file already"):
            Judgements.create(path, small_set())


def said(*votes: str, question: str = "contradictory") -> list[Judgement]:
    """Judgements of the first row, one an annotator."""
    return [Judgement(1, f"a{at}", {question: vote}) for at, vote in enumerate(votes)]


class TestResults:
    @pytest.mark.parametrize(
        ("votes", "majority", "two_of_three", "all_of_three"),
        [
            (("yes", "yes", "yes"), "yes", "yes", "yes"),
            (("yes", "yes", "no"), "yes", "yes", None),
            (("yes", "no", "no"), "no", None, None),
            (("no", "no", "no"), "no", "no", "no"),
            (("yes", "no"), None, None, None),
        ],
    )
    def test_rules_make_labels(
        self,
        votes: tuple[str, ...],
        majority: str | None,
        two_of_three: str | None,
        all_of_three: str | None,
    ) -> None:
        set = small_set(questions="contradiction")
        for rule, expected in zip(
            ("majority", "two-of-three", "all-of-three"), (majority, two_of_three, all_of_three), strict=True
        ):
            found = results_of(set, said(*votes), rule)
            assert found.labels == ({} if expected is None else {1: {"contradictory": expected}})
            assert found.open == (expected is None)

    def test_there_are_no_other_rules(self) -> None:
        with pytest.raises(
            InputError, match="no rule is called 'most': majority, two-of-three, all-of-three"
        ):
            results_of(small_set(), [], "most")

    def test_an_item_counts_once_however_many_judge_it(self) -> None:
        some = [Judgement(row, name, USABLE) for row in (1, 2, 3) for name in ("ann", "ben", "cleo")]
        (edits, hard) = results_of(small_set(), some).sources
        assert (edits.name, edits.read, hard.name, hard.read) == ("edits", 2, "hard", 1)
        assert edits.shares["usable"].value == 1

    def test_agreement_and_disagreements(self) -> None:
        rows = [(1, "yes", "yes"), (2, "no", "no"), (3, "yes", "no"), (4, "yes", "yes")]
        some = [
            Judgement(row, name, {"contradictory": vote})
            for row, *votes in rows
            for name, vote in zip(("ann", "ben"), votes, strict=True)
        ]
        set = small_set(questions="contradiction")
        found = results_of(set, [*some, Judgement(5, "ann", {"contradictory": "no"})])
        (agreement,) = found.agreement()
        assert (agreement.items, agreement.same, agreement.annotators) == (4, 4, 2)
        assert agreement.kappa == pytest.approx(0.4667, abs=1e-4)
        assert agreement.alpha == pytest.approx(0.5333, abs=1e-4)
        assert found.disagreements == [3] and 3 not in found.labels
        decided = results_of(set, [*some, Judgement(3, ADJUDICATOR, {"contradictory": "no"})])
        assert decided.labels[3] == {"contradictory": "no"} and decided.agreement()[0] == agreement

    def test_one_annotator_has_no_agreement(self) -> None:
        assert results_of(small_set(), [Judgement(1, "ann", USABLE)]).agreement() == []


class TestExchange:
    @pytest.fixture
    def results(self) -> Results:
        """Judgements with all that may stand in one."""
        some = [
            Judgement(1, "ann", USABLE, 'so "so",\nreally', "2026-01-31T12:00:00+00:00"),
            Judgement(1, "ben", RIGHT),
            Judgement(1, ADJUDICATOR, RIGHT),
            Judgement(2, "ann", USABLE),
        ]
        return Results(small_set(), some)

    @pytest.mark.parametrize("suffix", list(FORMS))
    def test_each_form_goes_both_ways(self, results: Results, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"out{suffix}"
        write_judgements(results, path)
        back = read_judgements(results.set, path)
        assert [replace(one, at="") for one in back] == [replace(one, at="") for one in results.judgements]
        if suffix == ".jsonl":
            assert back == results.judgements
        with pytest.raises(InputError, match="there is"):
            write_judgements(results, path)

    @pytest.mark.parametrize("suffix", list(FORMS))
    def test_rows_of_another_set_are_refused(self, results: Results, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"out{suffix}"
        write_judgements(results, path)
        items = (replace_text(results.set.items[0]), *results.set.items[1:])
        other = ReviewSet(FORMAT, 7, results.set.questions, items)
        with pytest.raises(InputError, match="row 1 has another context or response than was drawn"):
            read_judgements(other, path)
        with pytest.raises(InputError, match=r"row '\d' is not in the key"):
            read_judgements(ReviewSet(FORMAT, 7, results.set.questions, ()), path)

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("a.jsonl", "{", r"a\.jsonl:1: not JSON"),
            ("a.jsonl", "[]", r"a\.jsonl:1: the line is not a JSON object"),
            ("a.jsonl", "{}", r"a\.jsonl:1: no judgement"),
            ("a.json", "{", r"a\.json: not JSON"),
            ("a.json", "{}", r"a\.json: no list of tasks"),
            ("a.json", "[3]", r"a\.json: task 0: no task of this review"),
            ("a.csv", "row,context\n", r"a\.csv:1: no column response"),
            ("a.txt", "", "the suffix says no form of judgements"),
        ],
    )
    def test_broken_files_are_named(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_judgements(small_set(), tmp_path / name)

    def test_labels_are_gold_of_the_next_review(self, results: Results, tmp_path: Path) -> None:
        (tmp_path / "labels.jsonl").write_text(labels_of(results), encoding="utf-8")
        gold = read_gold(results.set.questions, [tmp_path / "labels.jsonl"])
        assert [(item.id, item.gold) for item in gold] == [("i0", RIGHT), ("i1", USABLE)]
        two = (tmp_path / "labels.jsonl").read_text(encoding="utf-8").replace('"right"', '"arguable"', 1)
        (tmp_path / "more.jsonl").write_text(two, encoding="utf-8")
        with pytest.raises(InputError, match=r"more\.jsonl:1: i0 has other answers"):
            read_gold(results.set.questions, [tmp_path / "labels.jsonl", tmp_path / "more.jsonl"])

    def test_label_studio_has_a_configuration(self) -> None:
        from xml.etree import ElementTree

        root = ElementTree.fromstring(label_studio_config(small_set()))
        assert [one.get("name") for one in root.iter("Choices")] == ["grammatical", "sensible", "verdict"]

    def test_what_label_studio_exports_itself_is_read(self, results: Results, tmp_path: Path) -> None:
        write_judgements(results, tmp_path / "out.json")
        tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
        cancelled = {"was_cancelled": True, "result": []}
        (annotation, *_) = tasks[0]["annotations"]
        annotation["result"] = [one for one in annotation["result"] if one["type"] == "choices"]
        tasks[0]["annotations"] = [cancelled, {**annotation, "completed_by": {"email": "ann@example.org"}}]
        (tmp_path / "ls.json").write_text(json.dumps(tasks[:1]), encoding="utf-8")
        (back,) = read_judgements(results.set, tmp_path / "ls.json")
        assert (back.annotator, back.answers) == ("ann@example.org", USABLE)


def replace_text(item: Item) -> Item:
    return Item(item.source, item.id, item.context, item.response + " More.")


class TestTheCommand:
    def test_draws_and_reads(
        self, sources: tuple[list[str], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run, (files, human) = command_line(capfd), sources
        out = tmp_path / "sheet.csv"
        drawn = run("sheet", *files, "--human", human, "--n", "20", "-o", out)
        assert drawn.status == 0 and "32 rows to be read" in drawn.err
        assert "edits: 12 fewer than the 20 asked for" in drawn.err
        told = run("sheet", "--read", filled(out, grammatical="no", sensible="yes", verdict="right"))
        assert told.status == 0 and "1 row not filled" in told.err
        assert "usable" in told.out and "negate" in told.out and "100%" in told.out
        as_json = json.loads(run("sheet", "--read", out, "--json").out)
        assert {line["name"] for line in as_json["sources"]} == {"hard", "edits", PEOPLE}

    def test_draws_or_reads(self, capfd: pytest.CaptureFixture[str]) -> None:
        run = command_line(capfd)
        assert run("sheet", "a.jsonl").status == 2
        assert run("sheet", "a.jsonl", "--read", "sheet.csv").status == 2

    def test_reads_several_sheets_and_what_the_browser_kept(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run = command_line(capfd)
        set = small_set()
        write_blank_sheet(set, tmp_path / "ann.csv")
        (tmp_path / "ben.csv").write_bytes((tmp_path / "ann.csv").read_bytes())
        filled(tmp_path / "ann.csv", grammatical="y", sensible="y", verdict="w")
        filled(tmp_path / "ben.csv", grammatical="y", sensible="y", verdict="r")
        told = run("sheet", "--read", tmp_path / "ann.csv", "--read", tmp_path / "ben.csv", "--json")
        (found,) = [json.loads(told.out)] if told.status == 0 else [told]
        assert found["disagreements"] == 5 and found["agreement"][0]["alpha"] == 1.0
        with Judgements.create(tmp_path / "j.sqlite", set) as judged:
            judged.judge(1, "ann", USABLE)
        told = run("sheet", "--read", tmp_path / "j.sqlite", "-o", tmp_path / "j.jsonl")
        assert told.status == 0 and "1 row read; judgements are in" in told.err.replace("\n", " ")
        assert json.loads((tmp_path / "j.jsonl").read_text(encoding="utf-8"))["answers"] == USABLE
