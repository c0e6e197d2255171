"""Tests of unusable answers of a server: cut off, empty, refused, too long, late or invalid."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="served models need the served extra")

from graphneg.errors import InputError, ModelError
from graphneg.nn.answers import Answer, AnswerCache
from graphneg.nn.generation import Beams
from graphneg.nn.served import ServedWriter
from graphneg.nn.serving import ServerSettings
from graphneg.nn.writers import Completion, Constraints, GenerationSettings, Prompt
from tests.answering_server import Answering, answering, said

ASKED = Prompt("Say it.")
FINE = said("It is said.")
SHORT = GenerationSettings(Beams(), max_new_tokens=16)


def ask(
    cache: Path, answer: Answering, times: int = 1, route: Any = "chat", **asked: Any
) -> tuple[list[Completion], list[dict[str, Any]], list[str]]:
    """Return the completions of several runs, the requests, and the notes of the last run."""
    with answering(answer) as (url, bodies):
        found: list[Completion] = []
        notes: list[str] = []
        for _ in range(times):
            writer = ServedWriter("m", ServerSettings(url, timeout=10, cache=cache), route)
            [[one]] = writer.complete([ASKED], **{"settings": SHORT, **asked})
            found.append(one)
            notes = writer.notes()
            writer.close()
    return found, bodies, notes


UNUSABLE = [
    (said("It is", "length"), "truncated", "It is"),
    (said(None, "length"), "only-thinking", ""),
    (said(None, reasoning_content="Hm."), "only-thinking", ""),
    (said("<think>\nWell, five", "length"), "only-thinking", ""),
    (said("Well, five</think><think>and"), "only-thinking", ""),
    (said(""), "empty-answer", ""),
    (said("  \n"), "empty-answer", ""),
    (said(None, "tool_calls"), "empty-answer", ""),
    ({"choices": [], "usage": None}, "empty-answer", ""),
    ({"choices": None}, "empty-answer", ""),
    (said("I can", "content_filter"), "refused-answer", "I can"),
    (said(None, refusal="I can't say it."), "refused-answer", ""),
]


class TestProblems:
    @pytest.mark.parametrize(("answer", "problem", "text"), UNUSABLE)
    def test_unusable_answers_are_requested_again_and_not_cached(
        self, tmp_path: Path, answer: dict[str, Any], problem: str, text: str
    ) -> None:
        found, bodies, [note] = ask(tmp_path / "c", lambda *_: answer, times=2)
        assert [(one.problem, one.text) for one in found] == [(problem, text)] * 2
        assert len(bodies) == 4, "two runs, each with one more request"
        assert f"({problem}); repeated with more tokens, 0 became usable, 1 did not" in note

    @pytest.mark.parametrize(("answer", "problem", "text"), UNUSABLE)
    def test_a_usable_second_answer_is_cached(
        self, tmp_path: Path, answer: dict[str, Any], problem: str, text: str
    ) -> None:
        found, bodies, notes = ask(tmp_path / "c", lambda _, n: answer if n == 1 else FINE, times=2)
        assert found == [Completion("It is said.", True)] * 2
        most = [body["max_tokens"] for body in bodies]
        assert most == ([16, 4096] if problem == "only-thinking" else [16, 64])
        assert not notes, "the second run read it from the file"

    def test_an_unusable_answer_is_repeated_once_per_run(self, tmp_path: Path) -> None:
        with answering(lambda *_: said("")) as (url, bodies):
            writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
            writer.complete([ASKED])
            writer.complete([ASKED])
        assert len(bodies) == 2

    @pytest.mark.parametrize(
        "asked",
        [{"stop": ["\n"]}, {"constraints": [Constraints(min_words=2)]}],
        ids=["stop", "sentence"],
    )
    def test_an_answer_cut_off_after_the_stop_string_is_complete(self, tmp_path: Path, asked: dict) -> None:
        [one], bodies, notes = ask(tmp_path / "c", lambda *_: said("We left.\nAnd th", "length"), **asked)
        assert one == Completion("We left.", True) and len(bodies) == 1 and not notes

    @pytest.mark.parametrize(
        "text",
        [
            "<think>Let me think.\n\n1. No.</think>\n\nIt is said.",
            "Let me think.</think>It is said.",
            "[THINK]Hm.[/THINK] It is said.",
            "<Reasoning>\nHm.\n</Reasoning>\nIt is said.",
        ],
    )
    @pytest.mark.parametrize("route", ["chat", "completion"])
    def test_reasoning_is_removed_from_the_text(self, tmp_path: Path, text: str, route: str) -> None:
        answer = said(text) if route == "chat" else {"choices": [{"text": text, "finish_reason": "stop"}]}
        [one], bodies, _ = ask(tmp_path / "c", lambda *_: answer, route=route)
        assert one == Completion("It is said.", True) and len(bodies) == 1

    def test_the_request_after_mere_reasoning_has_no_stop_strings(self, tmp_path: Path) -> None:
        def answer(body: dict[str, Any], _: int) -> dict[str, Any]:
            return said("<think>" if "stop" in body else "<think>Hm.\nWell.</think>It is said.\nTruly.")

        [one], bodies, _ = ask(tmp_path / "c", answer, stop=["\n"])
        assert one == Completion("It is said.", True) and len(bodies) == 2

    def test_a_rejected_prompt_is_remembered_in_the_next_run(self, tmp_path: Path) -> None:
        refusal = [b'HTTP/1.1 400 Bad Request\r\n\r\n{"error": {"message": "too long"}}']
        noted: list[str] = []
        with answering(lambda body, _: refusal if "long" in str(body) else FINE) as (url, bodies):
            for _ in range(2):
                writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
                [[first], [other]] = writer.complete([ASKED, Prompt("A long one.")])
                writer.close()
                noted = noted or writer.notes()
        assert (first.problem, other.problem) == ("", "not-accepted") and len(bodies) == 2
        assert noted == ["1 answer of m: server rejected the prompt (not-accepted)"]


def one_byte_at_a_time(text: bytes) -> Iterator[bytes]:
    for byte in text:
        yield bytes([byte])
        time.sleep(0.2)


WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b" " * 1000


class TestLimits:
    @pytest.mark.parametrize("first", [b"", WHOLE[:-1000]], ids=["from the first byte", "after the headers"])
    def test_slow_bytes_do_not_extend_the_timeout(self, tmp_path: Path, first: bytes) -> None:
        def answer(*_: object) -> Iterator[bytes]:
            yield first
            yield from one_byte_at_a_time(WHOLE[len(first) :])

        began = time.monotonic()
        with answering(answer) as (url, bodies):
            writer = ServedWriter("m", ServerSettings(url, timeout=0.5, cache=tmp_path / "c"))
            with pytest.raises(
                ModelError, match=r"gives no answer \(no complete answer within 0.5 seconds\)"
            ):
                writer.complete([ASKED])
        assert len(bodies) == 3 and time.monotonic() - began < 60  # a complete answer would take 200 seconds

    def test_an_endless_answer_is_aborted(self, tmp_path: Path) -> None:
        def answer(*_: object) -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\n\r\n"
            while True:
                yield b" " * 65536

        with answering(answer) as (url, _):
            writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
            with pytest.raises(ModelError, match="an answer of more than 4 MB"):
                writer.complete([ASKED])

    @pytest.mark.parametrize("port", [65536, 99999999])
    def test_a_redirect_to_an_invalid_port_is_an_error(self, tmp_path: Path, port: int) -> None:
        moved = f"HTTP/1.1 307 No\r\nlocation: http://127.0.0.1:{port}/\r\ncontent-length: 0\r\n\r\n"
        with answering(lambda *_: [moved.encode()]) as (url, _):
            writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
            with pytest.raises(ModelError, match="no server can be reached at this address") as raised:
                writer.complete([ASKED])
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_to_another_host_is_not_followed(self, tmp_path: Path, status: int) -> None:
        with answering(lambda *_: FINE) as (other, received):
            # "localhost" and "127.0.0.1" are different hosts for this check.
            moved = f"HTTP/1.1 {status} No\r\nlocation: {other.replace('127.0.0.1', 'localhost')}\r\n"
            with answering(lambda *_: [f"{moved}content-length: 0\r\n\r\n".encode()]) as (url, _):
                writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
                with pytest.raises(ModelError, match="a redirect to another host, localhost"):
                    writer.complete([ASKED])
        assert not received

    def test_a_redirect_on_the_same_host_is_followed(self, tmp_path: Path) -> None:
        with answering(lambda *_: FINE) as (other, received):
            moved = f"HTTP/1.1 308 No\r\nlocation: {other}/new\r\ncontent-length: 0\r\n\r\n"
            [one], _, _ = ask(tmp_path / "c", lambda *_: [moved.encode()])
        assert one.text == "It is said." and len(received) == 1

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nx", "a compressed answer"),
            (b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000, "not JSON"),
            (b'HTTP/1.1 200 OK\r\n\r\n{"choices": [' + b"1" * 5000 + b"]}", "not JSON"),
            (b'HTTP/1.1 200 OK\r\n\r\n{"choices": [1]}', "an answer in an unknown format"),
            (b'HTTP/1.1 200 OK\r\n\r\n"choices"', "an answer in an unknown format"),
            (b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"message": {"content": 3}}]}', "in an unknown format"),
            (
                b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"message": {"content": "\\ud800"}}]}',
                "in an unknown format",
            ),
            (b"HTTP/1.1 200 OK\r\n\r\n<html>", "not JSON"),
            (
                b"HTTP/1.1 500 No\r\n\r\n" + b"x" * 100_000,
                "fails for the model 'm' .*xxx…",
            ),
            (b"HTTP/1.1 418 No\r\n\r\n[1, 2]", r"answers with status 418"),
            (b'HTTP/1.1 400 No\r\n\r\n{"error": "no such thing"}', "does not accept .*no such thing"),
            (b'HTTP/1.1 422 No\r\n\r\n{"detail": [{"msg": "a field"}]}', "does not accept .*a field"),
        ],
    )
    def test_invalid_responses_are_one_line_of_error(self, tmp_path: Path, content: bytes, told: str) -> None:
        with answering(lambda *_: [content]) as (url, _):
            writer = ServedWriter("m", ServerSettings(url, cache=tmp_path / "c"))
            with pytest.raises(ModelError, match=told) as raised:
                writer.complete([ASKED])
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 600

    @pytest.mark.parametrize("count", [10**400, -1, 1.5, "12", float("nan"), float("inf"), True, [1]])
    def test_impossible_token_counts_are_estimated(self, tmp_path: Path, count: Any) -> None:
        answer = {**FINE, "usage": {"prompt_tokens": count, "completion_tokens": count}}
        with answering(lambda *_: answer) as (url, _):
            serving = ServerSettings(url, price_in=1.0, price_out=1.0, max_cost=1.0, cache=tmp_path / "c")
            writer = ServedWriter("m", serving)
            [[one]] = writer.complete([ASKED])
            assert one.text == "It is said." and 0 < writer.spent < 1e-4
            [note] = writer.notes()
        assert "had impossible token counts" in note

    @pytest.mark.parametrize("value", [float("nan"), float("-inf"), None, "x"])
    def test_an_invalid_log_probability_does_not_affect_the_text(self, tmp_path: Path, value: Any) -> None:
        answer = said("It is said.")
        answer["choices"][0]["logprobs"] = {"content": [{"logprob": -1.0}, {"logprob": value}]}
        found, bodies, _ = ask(tmp_path / "c", lambda *_: answer, times=2)
        assert found == [Completion("It is said.", True)] * 2 and len(bodies) == 1


class TestOptions:
    @pytest.mark.parametrize(
        "options",
        [
            {"timeout": float("nan")},
            {"timeout": float("inf")},
            {"price_in": float("nan"), "max_cost": 1.0},
            {"price_in": 1.0, "max_cost": float("nan")},
            {"base_url": "http://[::1"},
            {"base_url": "http://localhost:eight/v1"},
            {"base_url": "http://localhost:99999/v1"},
        ],
    )
    def test_invalid_numbers_and_addresses_are_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(InputError):
            ServerSettings(**options)

    def test_an_invalid_key_is_not_shown(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-first\nsk-second")
        writer = ServedWriter("m", ServerSettings("http://127.0.0.1:9/v1", cache=tmp_path / "c"))
        with pytest.raises(
            ModelError, match="OPENAI_API_KEY contains characters that a key can't contain"
        ) as raised:
            writer.complete([ASKED])
        assert "sk-" not in str(raised.value)


class TestFile:
    def test_answers_of_another_server_are_not_used(self, tmp_path: Path) -> None:
        texts: list[str] = []
        for text in ("One.", "Two."):
            found, bodies, _ = ask(tmp_path / "c", lambda *_, text=text: said(text))
            texts.append(found[0].text)
            assert len(bodies) == 1
        assert texts == ["One.", "Two."]

    def test_servers_with_different_paths_are_different(self, tmp_path: Path) -> None:
        with answering(lambda *_: FINE) as (url, bodies):
            for end in ("/think", "/ok", "/ok/"):
                ServedWriter("m", ServerSettings(url + end, cache=tmp_path / "c")).complete([ASKED])
        assert len(bodies) == 2

    def test_answers_of_an_older_version_are_reported_once_and_ignored(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        old = sqlite3.connect(tmp_path / "c")
        old.execute("CREATE TABLE answers (key BLOB PRIMARY KEY, answer BLOB) WITHOUT ROWID")
        old.execute("INSERT INTO answers VALUES (?, ?)", (b"key", json.dumps(["Old.", True]).encode()))
        old.commit()
        old.close()
        for _ in range(2):
            answers = AnswerCache(tmp_path / "c")
            assert answers.get([b"key"]) == {}
            answers.close()
        [line] = [record.getMessage() for record in caplog.records]
        assert line.endswith("1 answers of an older version do not record their server, so they are not used")

    def test_a_file_of_a_newer_version_is_refused(self, tmp_path: Path) -> None:
        newer = sqlite3.connect(tmp_path / "c")
        newer.execute("PRAGMA user_version = 3")
        newer.close()
        with pytest.raises(
            InputError, match="a newer version of graphneg wrote these answers; choose another"
        ):
            AnswerCache(tmp_path / "c")

    def test_answers_with_a_problem_are_not_kept_for_the_next_run(self, tmp_path: Path) -> None:
        answers, odd, fine = (
            AnswerCache(tmp_path / "c"),
            Answer("It", False, problem="truncated"),
            Answer("Y", True),
        )
        answers.put(b"odd", odd)
        answers.put(b"fine", fine)
        assert answers.get([b"odd", b"fine"]) == {b"odd": odd, b"fine": fine}
        answers.close()
        assert AnswerCache(tmp_path / "c").get([b"odd", b"fine"]) == {b"fine": fine}
