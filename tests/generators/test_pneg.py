"""Tests of the generator ``pneg``: the prompt, the list that a model answers with, and refusals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="served models need the served extra")

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import Context, get_generator
from graphneg.generators.pneg import PnegGenerator, PnegOptions, list_items, read_examples
from graphneg.generators.text_filters import LENGTHS, TextLosses, refusal
from graphneg.nn.answers import Problem
from graphneg.nn.writers import Completion, Prompt
from graphneg.progress import NoProgress
from graphneg.records.files import read_jsonl
from graphneg.records.scores import context_overlap
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from tests.answering_server import answering, said
from tests.cli_runs import Run
from tests.stub_model import answer_to, answered, stub_model
from tests.tiny_lm import TinyModels
from tests.tiny_ranker import encoder_folder

GOOD = (
    "The boat of the pope has no engine.",
    "A sale begins when the doors open.",
    "On Friday the cooks clean their ovens.",
    "My grandmother sold eggs in the market.",
    "Every uncle in that film wears a beard.",
)


class ScriptedWriter:
    """Return the given answers in turn, and remember the prompts."""

    name = "says"
    route = "chat"

    def __init__(self, *answers: str | Completion) -> None:
        self.answers = [Completion(one, True) if isinstance(one, str) else one for one in answers]
        self.asked: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt], n: int = 1, **_: object) -> list[list[Completion]]:
        self.asked += prompts
        return [[self.answers.pop(0)] for _ in prompts]


def numbered(*texts: str) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


class FixedJudge:
    """Report for each text that the context reduces its loss by the share `expected`."""

    def __init__(self, expected: float) -> None:
        self.losses = TextLosses(2.0, 2.0 * (1 - expected), 3.0)

    def read(self, texts: Sequence[str], histories: Sequence[object]) -> list[TextLosses | None]:
        assert all(histories)
        return [None if text == GOOD[0] else self.losses for text in texts]


def made_by(writer: ScriptedWriter, judge: FixedJudge | None = None, **options: object) -> PnegGenerator:
    generator = PnegGenerator(PnegOptions(**options), read_examples(), writer, judge)  # type: ignore[arg-type]
    generator.begin([], NoProgress())
    return generator


def codes(generator: PnegGenerator) -> list[str]:
    return [reason.partition(":")[0] for reason, _ in generator.missing()]


@pytest.mark.parametrize(
    ("answer", "listed"),
    [
        ("1. I like tea.\n2. We left.", ["I like tea.", "We left."]),
        (
            "Sure! Here they are:\n\n1) I like tea.\n\n2) We left.\n\nTell me more.",
            ["I like tea.", "We left."],
        ),
        ("(1) I like tea.\n(2) We left.", ["I like tea.", "We left."]),
        ("- I like tea.\n* We left.\n• No.", ["I like tea.", "We left.", "No."]),
        ('1. "I like tea."\n2. “We left.”', ["I like tea.", "We left."]),
        ("**1.** I like tea.\n**2.** We left.", ["I like tea.", "We left."]),
        ("1. **I like tea.**\n2. B: We left.", ["I like tea.", "We left."]),
        (
            "1. I like tea. 2. We left. 3. It costs 3.50 a cup.",
            ["I like tea.", "We left.", "It costs 3.50 a cup."],
        ),
        ("Irrelevant responses:\nI like tea.\nWe left.", ["I like tea.", "We left."]),
        ('```json\n["I like tea.", "We left."]\n```', ["I like tea.", "We left."]),
        (
            'Sure [as asked]:\n```json\n["I like tea.", "We left."]\n```\nMore [or less]?',
            ["I like tea.", "We left."],
        ),
        ('{"responses": ["I like tea.", "We left."]}', ["I like tea.", "We left."]),
        ('{"1": "I like tea.", "2": "We left."}', ["I like tea.", "We left."]),
        (
            '[{"speaker": "A", "text": "I like tea."}, {"speaker": "B", "text": "We left."}]',
            ["I like tea.", "We left."],
        ),
        ('```json\n[\n  "I like tea.",\n  "We left.",\n  "My un', ["I like tea.", "We left.", '"My un']),
        ('{"note": "Here they are."}\n1. We left.', ["We left."]),
        ("[" * 100_000, []),
        ("1. I like [old] tea.\n2. We left.", ["I like [old] tea.", "We left."]),
        ("1.\n2. \n3. We left.", ["We left."]),
        ("", []),
    ],
)
def test_lists_in_many_formats_are_read(answer: str, listed: list[str]) -> None:
    assert list_items(answer) == listed


class TestExamples:
    def test_the_bundled_examples_are_not_refused_as_responses(self, context: Context) -> None:
        examples = read_examples()
        assert len(examples) == 10
        for example in examples:
            assert len(example.responses) == 5
            for text in example.responses:
                assert refusal(text, [], replace(context, positives=()), LENGTHS) is None, text
                assert context_overlap(example.context, text) > 0, text

    def test_two_examples_are_drawn_for_each_request(self, context: Context) -> None:
        contexts = [replace(context, id=f"own/test/{n}#2") for n in range(60)]
        writer = ScriptedWriter(*[numbered(*GOOD)] * 60)
        made_by(writer, max_draws=1).generate(contexts, 1, 0)
        task = "Create five irrelevant responses containing keywords of the given dialogue context:"
        shown = {prompt.text for prompt in writer.asked}
        assert all(text.startswith(task) and text.count("Dialogue context:") == 3 for text in shown)
        assert len(shown) > 30  # of the ninety pairs that there are
        used = [
            sum(example.responses[0] in prompt.text for prompt in writer.asked) for example in read_examples()
        ]
        assert min(used) >= 3 and sum(used) == 120

    def test_k_0_shows_no_examples(self, context: Context) -> None:
        writer = ScriptedWriter(numbered(*GOOD))
        made_by(writer, k=0, max_draws=1).generate([context], 1, 0)
        assert writer.asked[0].text.count("Dialogue context:") == 1
        assert writer.asked[0].text.endswith("B: My uncle sold it on Friday.\nIrrelevant responses:")

    @pytest.mark.parametrize(
        ("lines", "told"),
        [
            ("", "the file has no examples; add some, or set k=0"),
            ('{"context": ["Hi."], "responses": []}', "line 1: expected an object with lists of texts"),
            ('{"context": "Hi.", "responses": ["No."]}', "line 1: expected an object with lists of texts"),
            ("[", "line 1: expected an object with lists of texts"),
            (
                '{"context": ["Hi."], "responses": ["No."]}',
                "k must be at most 1, the number of examples, not 2",
            ),
        ],
    )
    def test_a_file_of_examples_is_checked(
        self, unused: Store, tmp_path: Path, lines: str, told: str
    ) -> None:
        (tmp_path / "own.jsonl").write_text(lines + "\n")
        with pytest.raises(InputError, match=told):
            get_generator("pneg", unused, model="m", examples=tmp_path / "own.jsonl")


class TestRefusals:
    def test_responses_with_the_largest_overlap_come_first(self, context: Context) -> None:
        [found] = made_by(ScriptedWriter(numbered(*GOOD))).generate([context], 2, 0)
        clashes = [context_overlap((turn.text for turn in context.turns), text) for text in GOOD]
        assert [one.scores["context_overlap"] for one in found] == sorted(clashes, reverse=True)[:2]
        assert all(one.categories == ("C-follow",) for one in found)

    def test_a_short_list_is_discarded_and_requested_again(self, context: Context) -> None:
        writer = ScriptedWriter(numbered(*GOOD[:4]), numbered(*GOOD))
        generator = made_by(writer, max_draws=2)
        [found] = generator.generate([context], 5, 0)
        assert {one.text for one in found} == set(GOOD) and generator.refused == {"short-list": 1}
        assert len({prompt.id for prompt in writer.asked}) == 2

    def test_shorter_lists_are_used_with_min_responses(self, context: Context) -> None:
        generator = made_by(ScriptedWriter(numbered(*GOOD[:2])), max_draws=1, min_responses=2)
        [found] = generator.generate([context], 3, 0)
        assert len(found) == 2 and len(codes(generator)) == 1

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (GOOD[0], "like-another"),
            ("The boat still for sale is made of paper.", "copies-context"),
            ("What a pity!", "like-a-positive"),
            ("Nobody knows where the owls are.", "no-clash"),
            ("The boat sank and", "unfinished"),
            ("Le bateau de mon oncle ne marche pas du tout avec ce vent.", "not-english"),
            ("The boat of the boat has a boat.", "repeats"),
        ],
    )
    def test_refused_texts_are_counted_by_reason(self, context: Context, text: str, reason: str) -> None:
        generator = made_by(ScriptedWriter(numbered(*GOOD[:4], text)), max_draws=1)
        [found] = generator.generate([context], 5, 0)
        assert {one.text for one in found} == set(GOOD[:4])
        assert generator.refused == {reason: 1} and codes(generator) == [reason]

    @pytest.mark.parametrize(("expected", "given"), [(0.2, 4), (0.3, 0)])
    def test_texts_that_the_context_makes_likelier_are_refused(
        self, context: Context, expected: float, given: int
    ) -> None:
        generator = made_by(ScriptedWriter(numbered(*GOOD)), FixedJudge(expected), max_draws=1)
        [found] = generator.generate([context], 5, 0)
        assert [one.scores["expected"] for one in found] == pytest.approx([expected] * given)
        assert generator.refused["surprising"] == 1 and generator.refused["fits"] == 4 - given

    def test_a_copy_of_an_example_is_refused(self, context: Context) -> None:
        told = "Friday is the busiest day at the fish market."
        answer = numbered(told, *GOOD[:4])
        generator = made_by(ScriptedWriter(answer), max_draws=1, k=10)
        [found] = generator.generate([context], 5, 0)
        assert len(found) == 4 and codes(generator) == ["copies-example"]

    def test_a_text_is_given_to_one_context_only(self, context: Context) -> None:
        other = replace(context, id="own/test/2#2", dialogue="own/test/2")
        generator = made_by(ScriptedWriter(numbered(*GOOD), numbered(*GOOD)), max_draws=1)
        first, second = generator.generate([context, other], 5, 0)
        assert (len(first), len(second)) == (5, 0) and set(codes(generator)) == {"said-before"}


class TestProblemsOfAnswers:
    @pytest.mark.parametrize("problem", ["only-thinking", "empty-answer", "refused-answer", "not-accepted"])
    def test_unusable_answers_are_counted_by_problem(self, context: Context, problem: Problem) -> None:
        generator = made_by(ScriptedWriter(Completion("", False, problem=problem)), max_draws=1)
        assert generator.generate([context], 1, 0) == [[]]
        assert generator.refused == {problem: 1} and codes(generator) == [problem]

    def test_a_truncated_list_loses_its_last_response(self, context: Context) -> None:
        cut_off = Completion(numbered(*GOOD[:3], "My uncle has sold."), False, problem="truncated")
        generator = made_by(ScriptedWriter(cut_off), max_draws=1, min_responses=3)
        [found] = generator.generate([context], 5, 0)
        assert {one.text for one in found} == set(GOOD[:3])
        generator = made_by(ScriptedWriter(cut_off), max_draws=1)
        assert generator.generate([context], 5, 0) == [[]] and generator.refused == {"truncated": 1}

    def test_a_filtered_answer_is_not_used(self, context: Context) -> None:
        generator = made_by(
            ScriptedWriter(Completion(numbered(*GOOD), True, problem="refused-answer")), max_draws=1
        )
        assert generator.generate([context], 5, 0) == [[]] and generator.refused == {"refused-answer": 1}

    def test_an_answer_without_a_list_is_counted_as_no_list(self, context: Context) -> None:
        generator = made_by(ScriptedWriter(Completion("Responses:", True)), max_draws=1)
        assert generator.generate([context], 1, 0) == [[]] and generator.refused == {"no-list": 1}


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "error", "told"),
        [
            ({}, GeneratorError, "pneg needs a language model"),
            (
                {"model": "m", "min_responses": 6},
                InputError,
                "min_responses must be from 1 to the number of responses, 5, not 6",
            ),
            ({"model": "m", "max_draws": 0}, InputError, "at least 1"),
            ({"model": "m", "k": 11}, InputError, "k must be at most 10, the number of examples, not 11"),
            ({"model": "m", "route": "post"}, InputError, "route 'post'"),
            ({"model": "m", "served": {"colour": 1}}, InputError, "no option 'colour'"),
            ({"model": "no/model", "offline": True}, ModelError, "no/model"),
        ],
    )
    def test_invalid_options_are_refused(
        self, unused: Store, options: dict, error: type[Exception], told: str
    ) -> None:
        with pytest.raises(error, match=told):
            get_generator("pneg", unused, **options)

    def test_a_local_model_needs_a_chat_template_for_chat(self, unused: Store, tiny_lms: TinyModels) -> None:
        with pytest.raises(ModelError, match="no chat template; choose the route completion"):
            get_generator("pneg", unused, model=tiny_lms.gpt2, route="chat", device="cpu")


def served(url: str, tmp_path: Path, *more: str | Path) -> list[str | Path]:
    return ["--base-url", url, "--model", "m", "--cache", tmp_path / "answers", "--limit", "12", *more]


class TestCommand:
    def test_a_second_run_uses_the_cached_answers(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        folder, ask = tmp_path / "stub", ("generate", "pneg", "--store", everyday, "--per-context", "2")
        with stub_model(folder) as url:
            told = served(url, tmp_path)
            ended = run(*ask, "-o", tmp_path / "a.jsonl", *told, "--batch", "5")
        assert ended.status == 0 and "12 requests with about" in ended.err, ended.err
        made = list(read_jsonl(tmp_path / "a.jsonl"))
        # If an answer has fewer than two usable replies, the generator sends one more request for it. There
        # can thus be more than 12.
        requests = answered(folder)
        assert len(made) == 24 and len(requests) >= 12
        # The user pays for each answer, so no request may be answered twice.
        assert len(set(requests)) == len(requests)
        assert all(one.recipe == "pneg" and one.scores["context_overlap"] > 0 for one in made)
        again = run(*ask, "-o", tmp_path / "b.jsonl", *told)
        assert again.status == 0 and "0 requests" in again.err, again.err
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
        ranker = encoder_folder(tmp_path / "ranker", labels=1)
        for most, given in ((1.0, 24), (0.0, 0)):  # texts that score above `most` are refused
            judged = ("--option", f"ranker={ranker}", "--option", f"max_score={most}")
            ended = run(*ask, "-o", tmp_path / f"{most}.jsonl", *told, *judged)
            # A run that makes no negative ends with an error.
            assert ended.status == (0 if given else 1), ended.err
            scored = list(read_jsonl(tmp_path / f"{most}.jsonl"))
            assert len(scored) == given and all(0 < one.scores["answers"] <= most for one in scored)
            assert given or "answers " in ended.err

    def test_repeated_requests_are_counted_in_the_summary(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        def answer(body: dict[str, Any], _: int) -> dict[str, Any]:
            if body["max_tokens"] < 200:
                return said("<think>\nOkay, the user wants five", "length")
            return (
                said("1. One of f", "length")
                if body["seed"] % 2
                else said(answer_to(body, body["seed"] % 999))
            )

        with answering(answer) as (url, bodies):
            ask = (
                "generate",
                "pneg",
                "--store",
                everyday,
                "-o",
                tmp_path / "a.jsonl",
                "--option",
                "max_draws=1",
            )
            ended = run(*ask, *served(url, tmp_path))
        assert ended.status == 0 and len(bodies) == 24, ended.err
        odd = sum(body["seed"] % 2 for body in bodies) // 2
        line = "(only-thinking); repeated with more tokens,"
        assert f"{line} {12 - odd} became usable, {odd} did not" in " ".join(ended.err.split()), ended.err
        assert "truncated " in ended.err

    @pytest.mark.parametrize(
        ("name", "options"),
        [("key-sentence", ("drafts=1", "max_draws=1")), ("key-context", ("drafts=2", "max_draws=1"))],
    )
    def test_keyword_generators_work_with_a_served_model(
        self, run: Run, everyday: Path, tmp_path: Path, name: str, options: tuple[str, ...]
    ) -> None:
        asked = [f"--option={option}" for option in options]
        with stub_model(tmp_path / "stub") as url:
            told = served(url, tmp_path)
            ended = run("generate", name, "--store", everyday, "-o", tmp_path / "a.jsonl", *told, *asked)
        assert "no judge" in ended.err
        # The stub does not know which keyword a reply must have, so nearly all of its replies lack it. A run
        # that makes no negative ends with an error.
        made = list(read_jsonl(tmp_path / "a.jsonl")) if ended.status == 0 else []
        lacking = re.search(r"no-keyword +(?:\()?(\d+)", ended.err)
        assert lacking and int(lacking[1]) == 12 - len(made) > 6, ended.err
        assert ended.status == (0 if made else 1)
        assert len(answered(tmp_path / "stub")) == 12 * (1 if name == "key-sentence" else 2)

    @pytest.mark.parametrize(
        ("more", "status", "told"),
        [
            (
                ("--dry-run", "--price-in", "1", "--price-out", "2"),
                0,
                "input tokens and at most 1,920 output tokens, at most 0.0",
            ),
            (("--price-in", "1"), 2, "prices need a limit"),
            ((), 2, "no server can be reached"),
        ],
    )
    def test_no_file_is_written_on_errors_and_dry_runs(
        self, run: Run, everyday: Path, tmp_path: Path, more: tuple[str, ...], status: int, told: str
    ) -> None:
        ask = ("generate", "pneg", "--store", everyday, "-o", tmp_path / "out.jsonl")
        ended = run(*ask, *served("http://127.0.0.1:9/v1", tmp_path), *more)
        assert ended.status == status and told in ended.err, ended.err
        assert not list(tmp_path.glob("out*"))

    def test_server_options_without_a_server_are_refused(
        self, run: Run, everyday: Path, tmp_path: Path
    ) -> None:
        ask = ("generate", "pneg", "--store", everyday, "-o", tmp_path / "out.jsonl", "--model", "m")
        ended = run(*ask, "--max-cost", "1")
        assert ended.status == 2 and "--max-cost requires a served model" in ended.err


def test_candidates_do_not_depend_on_the_batch(everyday: Path, tmp_path: Path) -> None:
    with stub_model(tmp_path / "stub") as url, DialogueGraph(open_store(everyday)) as graph:
        told = {"model": "m", "served": {"base_url": url, "cache": str(tmp_path / "c")}, "limit": 8}
        whole = [one.response for one in graph.generate("pneg", per_context=2, batch=2, **told)]
        again = [one.response for one in graph.generate("pneg", per_context=2, batch=8, **told)]
    assert whole == again and len(whole) == 16
