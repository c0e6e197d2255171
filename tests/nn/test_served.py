"""Tests of writers that use a server: cached answers, retries, errors and costs."""

from __future__ import annotations

import json
import logging
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="served models need the served extra")

from graphneg.errors import InputError, ModelError, StoppedError
from graphneg.nn.generation import Beams, Sampling
from graphneg.nn.served import ServedWriter
from graphneg.nn.serving import ServerSettings
from graphneg.nn.writers import Constraints, GenerationSettings, Prompt
from tests.stub_model import answered, stub_model

PROMPTS = [Prompt(f"Say {n}.") for n in range(40)]
KEY = "sk-secret-0123456789"
AT_ONCE = 16
MANY = 1_000
KILLED_AFTER = 300
PATIENCE = 300
ASK_MANY = """
import json, sys
from graphneg.nn.served import ServedWriter
from graphneg.nn.serving import ServerSettings
from graphneg.nn.writers import Prompt
writer = ServedWriter("m", ServerSettings(**json.loads(sys.argv[1])))
writer.complete([Prompt(f"Say {n}.") for n in range(int(sys.argv[2]))], seed=3)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "stub"


@pytest.fixture
def url(folder: Path) -> Generator[str]:
    with stub_model(folder) as url:
        yield url


def texts(writer: ServedWriter, prompts: list[Prompt] = PROMPTS, **asked: object) -> list[str]:
    return [one.text for each in writer.complete(prompts, **asked) for one in each]  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_unreliable_server_answers_each_request_once_over_a_killed_run(
    folder: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "answers.sqlite"
    with stub_model(folder, seconds=0.02, faulty=0.1, rate=200) as url:
        told = {"base_url": url, "concurrency": AT_ONCE, "timeout": 5.0, "cache": str(cache)}
        command = [sys.executable, "-c", ASK_MANY, json.dumps(told), str(MANY)]
        with subprocess.Popen(command) as process:
            deadline = time.monotonic() + PATIENCE
            while len(answered(folder)) < KILLED_AFTER and time.monotonic() < deadline:
                time.sleep(0.05)
            process.kill()
        time.sleep(2.0)  # let the server finish the requests that it had begun
        [stored] = sqlite3.connect(cache).execute("SELECT count(*) FROM final_answers").fetchone()
        lost = len(answered(folder)) - stored
        assert 0 < stored < MANY and lost <= AT_ONCE, "an answer was lost that had arrived"
        writer = ServedWriter("m", ServerSettings(**told))
        found = texts(writer, [Prompt(f"Say {n}.") for n in range(MANY)], seed=3)
        times = Counter(answered(folder))
    assert len(times) == MANY and all(found)
    assert sum(amount - 1 for amount in times.values()) <= lost, "what was here was asked again"
    again = ServedWriter("m", ServerSettings(**told))
    assert texts(again, [Prompt(f"Say {n}.") for n in range(MANY)], seed=3) == found


class TestAnswers:
    def test_cached_answers_are_not_requested_again(self, url: str, folder: Path, tmp_path: Path) -> None:
        told = ServerSettings(url, cache=tmp_path / "c")
        found = texts(ServedWriter("m", told), n=2, seed=1)
        assert len(set(found)) == len(found) == len(answered(folder)) == 2 * len(PROMPTS)
        assert texts(ServedWriter("m", told), n=2, seed=1) == found
        assert len(answered(folder)) == len(found)

    def test_the_cache_key_has_server_model_prompt_parameters_and_seed(
        self, url: str, tmp_path: Path
    ) -> None:
        told, prompt = ServerSettings(url, cache=tmp_path / "c"), PROMPTS[:1]
        first = texts(ServedWriter("m", told), prompt)
        warm = GenerationSettings(Sampling(0.5))
        others = [
            texts(ServedWriter("other", told), prompt),
            texts(ServedWriter("m", told, "completion"), prompt),
            texts(ServedWriter("m", told), prompt, seed=1),
            texts(ServedWriter("m", told), prompt, settings=warm),
            texts(ServedWriter("m", told), prompt, stop=["x"]),
            texts(ServedWriter("m", told), [Prompt(prompt[0].text, "another")]),
            texts(
                ServedWriter("m", ServerSettings(url, cache=tmp_path / "c", parameters={"min_p": 0.1})),
                prompt,
            ),
        ]
        assert len({text for found in [first, *others] for text in found}) == 8
        patient = ServerSettings(f"{url}/", cache=tmp_path / "c", concurrency=2, timeout=1.0)
        assert texts(ServedWriter("m", patient), prompt) == first

    def test_equal_prompts_of_a_call_are_requested_once(self, url: str, folder: Path, tmp_path: Path) -> None:
        found = texts(ServedWriter("m", ServerSettings(url, cache=tmp_path / "c")), PROMPTS[:1] * 5)
        assert len(set(found)) == 1 == len(answered(folder))

    def test_texts_end_at_stop_strings_and_constraints(self, url: str, tmp_path: Path) -> None:
        writer, held = (
            ServedWriter("m", ServerSettings(url, cache=tmp_path / "c")),
            [Constraints(min_words=3)],
        )
        [[whole]] = writer.complete(PROMPTS[:1])
        [[line]] = writer.complete(PROMPTS[:1], stop=["\n"])
        [[sentence]] = writer.complete(PROMPTS[1:2], constraints=held)
        assert whole.text.count("\n") == 4 and "\n" not in line.text and line.finished
        assert sentence.text.endswith(".") and "\n" not in sentence.text

    def test_a_file_that_is_not_a_cache_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "c").write_text("no database at all, but a text of some length" * 40)
        with pytest.raises(InputError, match=r"c: can't be used for answers .*; choose another cache"):
            ServedWriter("m", ServerSettings("http://x/v1", cache=tmp_path / "c"))


class TestBadServers:
    def test_a_rate_limit_is_obeyed(self, folder: Path, tmp_path: Path) -> None:
        with stub_model(folder, rate=25) as url:
            found = texts(ServedWriter("m", ServerSettings(url, AT_ONCE, cache=tmp_path / "c")))
        assert all(found) and len(answered(folder)) == len(PROMPTS)

    def test_max_completion_tokens_is_used_if_the_server_wants_it(self, folder: Path, tmp_path: Path) -> None:
        with stub_model(folder, newer=True) as url:
            assert all(texts(ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))))

    def test_a_rejected_prompt_does_not_affect_others(
        self, url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
        [_, [refused], [other]] = writer.complete([PROMPTS[0], Prompt("forbidden"), PROMPTS[1]])
        assert (refused.text, refused.finished) == ("", False) and other.text
        assert "against the rules" in caplog.text

    def test_answers_are_kept_when_the_server_stops(self, folder: Path, tmp_path: Path) -> None:
        told = {"cache": tmp_path / "c", "attempts": 2, "timeout": 2.0}
        with stub_model(folder) as url:
            writer = ServedWriter("m", ServerSettings(url, **told))
            found = texts(writer, PROMPTS[:5])
        with pytest.raises(StoppedError, match=r"no answer in 2 attempts .* the answers so far are kept"):
            texts(writer)
        assert texts(writer, PROMPTS[:5]) == found


class TestWrongInput:
    @pytest.mark.parametrize(
        ("behaviour", "told"),
        [
            ({"key": "sk-right"}, r"does not accept the key in OPENAI_API_KEY \(.*\*\*\*\)"),
            ({"model": "large"}, "has no model 'm', or no route chat"),
            ({"route": "/completions/none"}, "the tokenizer has no chat template"),
        ],
    )
    def test_server_errors_do_not_contain_the_key(
        self,
        folder: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        behaviour: dict[str, str],
        told: str,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with stub_model(folder, **behaviour) as url:
            writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
            with pytest.raises(ModelError, match=told) as raised:
                texts(writer)
        assert "\n" not in str(raised.value) and url in str(raised.value)
        assert not answered(folder)
        kept = b"".join(file.read_bytes() for file in tmp_path.glob("c*"))
        for where in (str(raised.value), caplog.text, repr(writer), str(vars(writer)), str(kept)):
            assert KEY not in where

    def test_a_missing_key_is_named(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with (
            stub_model(folder, key=KEY) as url,
            pytest.raises(ModelError, match="needs a key: set OPENAI_API_KEY"),
        ):
            texts(ServedWriter("m", ServerSettings(url, cache=tmp_path / "c")))

    def test_an_unreachable_server_is_reported_quickly(self, tmp_path: Path) -> None:
        began = time.monotonic()
        with pytest.raises(
            ModelError, match="no server can be reached at this address; start a server, or set"
        ):
            texts(ServedWriter("m", ServerSettings("http://127.0.0.1:9/v1", cache=tmp_path / "c")))
        assert time.monotonic() - began < 20

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"price_in": 1.0}, "prices need a limit"),
            ({"max_cost": 1.0}, "max_cost needs price_in and price_out"),
            ({"price_in": -1.0, "max_cost": 1.0}, "numbers of at least 0"),
            ({"concurrency": 0}, "concurrency and attempts must be at least 1"),
            ({"base_url": "localhost:8000"}, "an address such as http://localhost:8000/v1"),
            ({"base_url": "http://me:secret@host/v1"}, "must not contain a password"),
        ],
    )
    def test_invalid_settings_are_refused(self, options: dict[str, float], told: str) -> None:
        with pytest.raises(InputError, match=told) as raised:
            ServerSettings(**options)  # type: ignore[arg-type]
        assert "secret" not in str(raised.value)

    def test_beam_search_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="does not support beam search"):
            texts(
                ServedWriter("m", ServerSettings("http://x/v1", cache=tmp_path / "c")),
                settings=GenerationSettings(Beams(2)),
            )


class TestCost:
    def test_a_run_stops_at_max_cost_and_can_be_continued(
        self, url: str, folder: Path, tmp_path: Path
    ) -> None:
        told = {
            "base_url": url,
            "concurrency": 4,
            "price_in": 10.0,
            "price_out": 10.0,
            "cache": tmp_path / "c",
        }
        writer = ServedWriter("m", ServerSettings(**told, max_cost=0.01))
        with pytest.raises(StoppedError, match=r"max_cost 0.01: .* is spent, and the next request may cost"):
            texts(writer)
        paid = len(answered(folder))
        assert 0 < writer.spent <= 0.01 and 0 < paid < len(PROMPTS)
        richer = ServedWriter("m", ServerSettings(**told, max_cost=10.0))
        assert all(texts(richer)) and len(answered(folder)) == len(PROMPTS)
        assert richer.spent == pytest.approx(writer.spent * (len(PROMPTS) - paid) / paid, rel=0.5)

    def test_counting_estimates_requests_without_sending_them(
        self, url: str, folder: Path, tmp_path: Path
    ) -> None:
        told = ServerSettings(url, price_in=10.0, price_out=20.0, max_cost=9.0, cache=tmp_path / "c")
        writer = ServedWriter("m", told)
        known = texts(writer, PROMPTS[:10])
        counting = writer.counting()
        found = [one for each in counting.complete(PROMPTS) for one in each]
        assert [one.text for one in found[:10]] == known and not any(one.text for one in found[10:])
        counting.complete(PROMPTS, seed=1)
        assert (counting.drafts.requests, counting.most.requests) == (30, 70)
        assert counting.drafts.tokens_out == 30 * 64
        assert counting.drafts.cost == pytest.approx(told.cost(counting.drafts.tokens_in, 30 * 64))
        assert len(answered(folder)) == 10
        counting.ask_first()
        assert len(answered(folder)) == 11
