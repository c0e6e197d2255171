"""A server with OpenAI's protocol but without a model, which can fail in the ways in which real servers fail.

``python -m tests.stub_model FOLDER SETTINGS`` runs the server until its standard input ends. ``SETTINGS`` is
a `Behaviour` as JSON. The server writes its port to ``FOLDER/port``. Before it sends an answer, it writes a
line to ``FOLDER/answered``, so that tests can count the answers that a user would pay for. Every answer is
different, even if the request is the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

PATIENCE = 60
STALLED = 30.0
FAULTS = ("refuse", "stall", "drop", "broken", "fail", "empty")
_THINGS = [
    "anchor",
    "basket",
    "candle",
    "drawer",
    "engine",
    "feather",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "mirror",
    "needle",
    "orchard",
    "pillow",
    "quarry",
    "ribbon",
    "saddle",
    "tunnel",
    "umbrella",
    "valley",
    "window",
    "yacht",
    "zebra",
    "bridge",
    "carpet",
    "donkey",
    "fountain",
    "guitar",
]
_DEEDS = [
    "painted",
    "sold",
    "borrowed",
    "repaired",
    "washed",
    "carried",
    "hid",
    "found",
    "lifted",
    "dropped",
    "counted",
    "measured",
]
_PLACES = [
    "harbour",
    "library",
    "stable",
    "attic",
    "market",
    "theatre",
    "cellar",
    "station",
    "bakery",
    "chapel",
    "forest",
    "meadow",
]


@dataclass(frozen=True)
class Behaviour:
    """How the server answers requests.

    Attributes:
        seconds: Time per answer.
        serial: Whether the server computes only one answer at a time.
        rate: Maximum number of requests per second; 0 for no limit.
        faulty: Fraction of the requests whose first one or two attempts fail.
        key: The API key that requests must have; empty to accept any.
        model: The only model that the server has; empty to accept any.
        route: The end of the only path that the server has; empty to accept any.
        newer: Whether the server accepts only the newer name of ``max_tokens``.
    """

    seconds: float = 0.0
    serial: bool = False
    rate: int = 0
    faulty: float = 0.0
    key: str = ""
    model: str = ""
    route: str = ""
    newer: bool = False


class Stub(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder: Path, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviour = behaviour
        self.lock, self.turn = threading.Lock(), threading.Lock()
        self.seen: Counter[str] = Counter()
        self.busy = 0.0
        self.window: tuple[int, int] = (0, 0)
        self.log = open(folder / "answered", "a", buffering=1)  # noqa: SIM115
        fresh = folder / "port.new"
        fresh.write_text(str(self.server_address[1]))
        fresh.replace(folder / "port")

    def is_over_rate(self) -> bool:
        with self.lock:
            second, amount = self.window
            now = int(time.monotonic())
            self.window = (now, amount + 1 if now == second else 1)
            return 0 < self.behaviour.rate < self.window[1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # Send headers and content together. Otherwise, the kernel would delay each answer.
    disable_nagle_algorithm = True
    server: Stub

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        body, does = json.loads(raw), self.server.behaviour
        if does.key and self.headers["authorization"] != f"Bearer {does.key}":
            told = self.headers["authorization"].removeprefix("Bearer ")
            return self.send(401, {"error": {"message": f"Incorrect API key provided: {told}"}})
        if does.model and body["model"] != does.model:
            return self.send(404, {"error": {"message": f"model {body['model']!r} does not exist"}})
        if does.route and not self.path.endswith(does.route):
            return self.send(500, {"error": {"message": "the tokenizer has no chat template"}})
        if does.newer and "max_tokens" in body:
            return self.send(400, {"error": {"message": "max_tokens: use max_completion_tokens"}})
        if b"forbidden" in raw:
            return self.send(400, {"error": {"message": "the prompt is against the rules"}})
        if self.server.is_over_rate():
            return self.send(429, {"error": {"message": "slow down"}}, {"retry-after": "0.3"})
        digest = hashlib.sha256(raw).hexdigest()
        with self.server.lock:
            self.server.seen[digest] += 1
            attempt = self.server.seen[digest]
        number = int(digest[:8], 16)
        if number / 2**32 < does.faulty and attempt <= 1 + number % 2:
            return self.fail(FAULTS[number % len(FAULTS)])
        if does.serial:
            with self.server.turn:
                began = time.monotonic()
                time.sleep(does.seconds)
                self.server.busy += time.monotonic() - began
        else:
            time.sleep(does.seconds)
        # The answer must not depend on the order in which requests arrive, which differs from run to run.
        text = answer_to(body, number % 10**7 * 10 + attempt)
        said = {"message": {"role": "assistant", "content": text}} if "messages" in body else {"text": text}
        usage = {"prompt_tokens": len(raw) // 4, "completion_tokens": len(text) // 4}
        self.server.log.write(f"{digest} {self.server.busy:.4f}\n")
        self.send(200, {"choices": [{**said, "finish_reason": "stop", "index": 0}], "usage": usage})

    def fail(self, fault: str) -> None:
        if fault == "refuse":
            return self.send(503, {"error": {"message": "busy"}})
        if fault == "fail":
            return self.send(500, {"error": {"message": "out of memory"}})
        if fault == "stall":
            time.sleep(STALLED)
        if fault == "broken":
            return self.send(200, '{"choices": [{"message": {"content": "1. Half of an ans')
        if fault == "empty":
            return self.send(200, {"choices": []})
        self.close_connection = True

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # The client has closed the connection or was killed.
            self.close_connection = True

    def send(self, status: int, content: object, headers: dict[str, str] | None = None) -> None:
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def answer_to(body: dict, number: int) -> str:
    """Return an answer that fits the prompt, with words that depend on ``number``.

    If the prompt ends with a perspective in parentheses, the answer is a reply with this perspective. If it
    asks for blanks, the answer has a word for each blank. Otherwise, the answer is a list of five sentences,
    each with a word of the last context in the prompt.
    """
    prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    last = prompt.rstrip().splitlines()[-1]
    things = Random(number).sample(_THINGS, 4)
    if asked := re.fullmatch(r"[AB] \((.+)\):", last):
        return f"The {things[0]} and the {things[1]} of the {asked[1]} are near the {things[2]}."
    if last == "Blanks:":
        blanks = re.findall(r"\[(?:word|phrase|sentence)\]", prompt.splitlines()[-2])
        return " | ".join(
            f"The {thing} is old." if blank == "[sentence]" else thing
            for thing, blank in zip(things, blanks, strict=False)
        )
    words = re.findall(r"[a-z]{5,}", prompt.rpartition("Dialogue context:")[2].partition("Irrelevant")[0])
    lines: list[str] = []
    for item in range(1, 6):
        n = number * 5 + item
        thing, place = _THINGS[n % 30], f"{_PLACES[n // 360 % 12]} and {_THINGS[n // 4_320 % 30]}"
        word, name = words[n % len(words)] if words else "nothing", f"{chr(65 + n % 26)}{n % 10_000}"
        lines.append(f"{item}. Uncle {name} {_DEEDS[n // 30 % 12]} the {thing} of {word} near {place}.")
    return "\n".join(lines)


@contextmanager
def stub_model(folder: Path, **behaviour: object) -> Generator[str]:
    """Run the server in a separate process until the end of the ``with`` block, and yield its address."""
    folder.mkdir(exist_ok=True)
    (folder / "port").unlink(missing_ok=True)
    settings = json.dumps(asdict(Behaviour(**behaviour)))  # type: ignore[arg-type]
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "tests.stub_model", str(folder), settings]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=root) as process:
        deadline = time.monotonic() + PATIENCE
        while not (folder / "port").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{(folder / 'port').read_text()}/v1"
        finally:
            process.kill()


def answered(folder: Path) -> list[str]:
    """Return the digests of the requests that were answered, in the order of the answers."""
    return [line.split()[0] for line in _log(folder)]


def busy_seconds(folder: Path) -> float:
    """Return the total time that a server with ``serial`` spent on its answers."""
    return max((float(line.split()[1]) for line in _log(folder)), default=0.0)


def _log(folder: Path) -> list[str]:
    file = folder / "answered"
    return [line for line in file.read_text().splitlines() if " " in line] if file.exists() else []


def main() -> None:
    folder, settings = sys.argv[1:]
    stub = Stub(Path(folder), Behaviour(**json.loads(settings)))
    threading.Thread(target=stub.serve_forever, daemon=True).start()
    sys.stdin.read()  # Returns when the parent process ends, even if it was killed.
    os._exit(0)


if __name__ == "__main__":
    main()
