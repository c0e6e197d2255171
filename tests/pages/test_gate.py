"""Tests of access to the pages: tokens, hosts, origins, passwords, limits, and wrong options."""

from __future__ import annotations

import dataclasses
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode, urlsplit

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page
from starlette.types import Receive, Scope, Send
from uvicorn import Config, Server

from graphneg.errors import InputError
from graphneg.pages import connections
from graphneg.pages.app import bound
from graphneg.pages.connections import PATIENCE_SECONDS, LimitedProtocol
from graphneg.pages.gate import HAS_SESSION, Access, check_access, is_loopback
from graphneg.pages.password_limiter import (
    MOST_ADDRESSES,
    MOST_KNOWN,
    MOST_PLACES,
    MOST_PLACES_OF_NETWORK,
    OF_ALL,
    OF_ONE,
    PLACE_SECONDS,
    TURNS_PER_SECOND,
    PasswordLimiter,
)
from graphneg.records.files import write_jsonl
from tests.cli_runs import command_line
from tests.negative_samples import EXAMPLE
from tests.pages.conftest import Served, serving

PASSWORD = "correct horse"


def written(folder: Path) -> Path:
    """Write a file of one negative."""
    write_jsonl([replace(EXAMPLE, target="response")], folder / "some.jsonl")
    return folder / "some.jsonl"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """Run a server on the loopback address."""
    folder = tmp_path_factory.mktemp("gate")
    with serving(folder, written(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def public_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """Run a server with a password on all addresses of this machine."""
    folder = tmp_path_factory.mktemp("guarded")
    with serving(folder, written(folder), "--host", "0.0.0.0", password=PASSWORD) as running:
        yield running


class Answer:
    """The response of a server to one request."""

    def __init__(
        self, served: Served, path: str, method: str = "GET", body: str = "", source: str = "", **headers: str
    ) -> None:
        port = urlsplit(served.origin).port
        connection = http.client.HTTPConnection(
            "127.0.0.1", port, source_address=(source, 0) if source else None
        )
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Host": f"127.0.0.1:{port}", **sent})
        answer = connection.getresponse()
        self.status, self.headers, self.text = answer.status, answer.headers, answer.read().decode()
        connection.close()


def try_password(
    served: Served, password: str, source: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """Return the response to a password sent from the address `source`."""
    origin = served.origin.replace("0.0.0.0", "127.0.0.1")
    return Answer(
        served, "/login", "POST", urlencode({"password": password}), source, Origin=origin, **(headers or {})
    )


def open_unread(
    address: tuple[str, int], path: str, requests: int = 1, source: str = "127.0.0.1"
) -> socket.socket:
    """Return a connection that has sent several requests at once and reads no response."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    connection.bind((source, 0))
    connection.settimeout(60)
    connection.connect(address)
    with suppress(OSError):
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode() * requests
        )
    return connection


def cookie_of(served: Served) -> str:
    """Return the cookie of a new session."""
    answer = Answer(served, served.address.removeprefix(served.origin))
    return answer.headers["Set-Cookie"].partition(";")[0]


class TestTheToken:
    def test_it_becomes_a_cookie_and_leaves_the_address(self, served: Served) -> None:
        token = served.address.partition("?")[2]
        answer = Answer(served, f"/review?row=3&{token}")
        assert answer.status == 303 and answer.headers["Location"] == "/review?row=3"
        assert Answer(served, f"//evil.example?{token}").headers["Location"] == "/evil.example"
        kept = answer.headers["Set-Cookie"]
        assert "HttpOnly" in kept and "SameSite=lax" in kept
        assert Answer(served, "/review", Cookie=cookie_of(served)).status == 200

    @pytest.mark.parametrize(
        "path", ["/", "/review", "/negatives", "/?token=guess", "/review/results", "/none"]
    )
    def test_requests_without_a_token_are_refused(self, served: Served, path: str) -> None:
        answer = Answer(served, path)
        assert answer.status == 403 and "open the URL that graphneg serve has printed" in answer.text
        name = cookie_of(served).partition("=")[0]
        assert Answer(served, path, Cookie=f"{name}=guess").status == 403

    def test_each_server_has_another(self) -> None:
        assert Access("127.0.0.1", 1).token != Access("127.0.0.1", 1).token


class TestHostsAndOrigins:
    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "[", ""])
    def test_other_hosts_are_refused(self, served: Served, host: str) -> None:
        port = urlsplit(served.origin).port
        for named in (f"{host}:{port}", host, "127.0.0.1:1"):
            answer = Answer(served, "/review", Host=named, Cookie=cookie_of(served))
            assert answer.status == 403 and "the Host header does not name this server" in answer.text

    def test_localhost_is_this_machine_too(self, served: Served) -> None:
        port = urlsplit(served.origin).port
        assert Answer(served, "/review", Host=f"localhost:{port}", Cookie=cookie_of(served)).status == 200

    def test_pages_of_other_origins_are_refused(self, served: Served) -> None:
        cookie = cookie_of(served)
        form = {"body": "annotator=ann", "Cookie": cookie}
        assert Answer(served, "/review/begin", "POST", Origin=served.origin, **form).status == 303
        for origin in ("http://evil.example", "null", served.origin + "0", "https" + served.origin[4:]):
            assert Answer(served, "/review/begin", "POST", Origin=origin, **form).status == 403
            assert Answer(served, "/review", Origin=origin, Cookie=cookie).status == 403
        assert Answer(served, "/review/begin", "POST", **form).status == 403


class TestAnswers:
    @pytest.mark.parametrize("path", ["/review", "/none", "/static/pages.css", "/static/none.css"])
    def test_all_are_guarded(self, served: Served, path: str) -> None:
        for cookie in ("", cookie_of(served)):
            headers = Answer(served, path, Cookie=cookie).headers
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy and headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin" and "Server" not in headers

    def test_only_styles_need_no_token(self, served: Served) -> None:
        assert Answer(served, "/static/pages.css").status == 200
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fgate.py", "/static/"):
            assert Answer(served, path).status in (403, 404)

    def test_unknown_paths_are_refused_in_a_line(self, served: Served) -> None:
        answer = Answer(served, "/<script>alert(1)</script>", Cookie=cookie_of(served))
        assert answer.status == 404 and "Not Found" in answer.text and "<script>alert" not in answer.text


class TestBeyondThisMachine:
    def test_a_password_is_asked_for(self, public_server: Served, visitor: Callable[[Served], Page]) -> None:
        assert "token" not in public_server.address
        local = dataclasses.replace(
            public_server, address=public_server.address.replace("0.0.0.0", "127.0.0.1")
        )
        page = visitor(local)
        assert page.url.endswith("/login")
        page.get_by_label("The password").fill("wrong horse")
        page.keyboard.press("Enter")
        page.get_by_role("alert").wait_for()
        page.get_by_label("The password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/negatives*")
        page.goto(f"{local.origin}/review")
        assert page.get_by_label("Your name").is_visible()

    def test_requests_without_a_password_are_refused(self, public_server: Served) -> None:
        assert Answer(public_server, "/review").headers["Location"] == "/login"
        assert Answer(public_server, "/review?token=x").headers["Location"] == "/login"
        origin = {"Origin": public_server.origin.replace("0.0.0.0", "127.0.0.1")}
        assert Answer(public_server, "/review/begin", "POST", "annotator=ann", **origin).status == 403
        assert "Set-Cookie" not in Answer(public_server, "/login", "POST", "password=guess", **origin).headers

    def test_guesses_are_limited_before_the_password_is_compared(self, public_server: Served) -> None:
        told = [try_password(public_server, f"guess {n}", "127.0.0.2") for n in range(30)]
        limited = [answer for answer in told if answer.status == 429]
        assert len(limited) >= 20 and 0 < int(limited[0].headers["Retry-After"]) < 60
        assert "go back and try again in" in limited[0].text
        right = try_password(public_server, PASSWORD, "127.0.0.2")
        assert right.status == 429 and "Set-Cookie" not in right.headers

    def test_a_forwarded_address_is_ignored(self, public_server: Served) -> None:
        forged = [{"X-Forwarded-For": f"10.9.{n}.1", "X-Forwarded-Proto": "https"} for n in range(30)]
        told = [
            try_password(public_server, f"guess {n}", "127.0.0.6", named) for n, named in enumerate(forged)
        ]
        assert sum(answer.status == 429 for answer in told) >= 20

    def test_wrong_passwords_of_others_do_not_lock_anybody_out(self, public_server: Served) -> None:
        for n in range(30):
            try_password(public_server, f"guess {n}", "127.0.0.3")
        assert "Set-Cookie" in try_password(public_server, PASSWORD, "127.0.0.4").headers

    @pytest.mark.parametrize("is_chunked", [False, True])
    def test_long_forms_are_not_read(self, public_server: Served, is_chunked: bool) -> None:
        parts = urlsplit(public_server.origin.replace("0.0.0.0", "127.0.0.1"))
        length = "Transfer-Encoding: chunked" if is_chunked else "Content-Length: 60000000"
        head = f"POST /login HTTP/1.1\r\nHost: {parts.netloc}\r\nOrigin: http://{parts.netloc}\r\n{length}\r\n\r\n"
        with socket.create_connection(
            ("127.0.0.1", parts.port or 80), source_address=("127.0.0.5", 0)
        ) as sent:
            sent.settimeout(120)
            sent.sendall(head.encode())
            if is_chunked:
                sent.sendall(b"1388\r\n" + b"a=1&" * 1250 + b"\r\n")
            assert sent.recv(4096).startswith(b"HTTP/1.1 413")
            while sent.recv(4096):  # read until the server closes the connection
                pass

    def test_incomplete_requests_are_closed(self, public_server: Served) -> None:
        port = urlsplit(public_server.origin).port or 80
        with ExitStack() as opened:
            for _ in range(600):
                half = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
                half.sendall(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1")
            assert Answer(public_server, "/login", source="127.0.0.6").status == 200
            half.settimeout(120)
            with suppress(ConnectionResetError):
                assert half.recv(4096)[:12] in (b"HTTP/1.1 408", b"HTTP/1.1 503")

    def test_unread_responses_do_not_block_others(self, public_server: Served) -> None:
        port = urlsplit(public_server.origin).port or 80
        with ExitStack() as opened:
            for number in range(440):
                source = f"127.0.4.{1 + number % 4}"
                opened.enter_context(open_unread(("127.0.0.1", port), "/static/drawing.js", 300, source))
            time.sleep(PATIENCE_SECONDS)
            assert [
                Answer(public_server, "/login", source=f"127.0.0.{20 + number}").status for number in range(4)
            ] == [200] * 4

    def test_names_of_other_sites_are_refused(self, public_server: Served) -> None:
        port = urlsplit(public_server.origin).port
        assert Answer(public_server, "/login", Host=f"evil.example:{port}").status == 403
        assert Answer(public_server, "/login", Host=f"192.0.2.7:{port}").status == 200

    @pytest.mark.parametrize("password", ["", "short"])
    def test_a_password_is_required(self, password: str) -> None:
        check_access("localhost", password)
        with pytest.raises(InputError, match=r"--host 0\.0\.0\.0: .* password of at least 8 characters"):
            check_access("0.0.0.0", password)

    def test_loopback_is_known_by_its_addresses(self) -> None:
        assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
        assert not any(map(is_loopback, ("0.0.0.0", "::", "192.0.2.7", "example.org", "")))


class TestGuessesFromManyAddresses:
    def test_the_owner_logs_in_at_once_on_the_machine_and_soon_from_elsewhere(self, tmp_path: Path) -> None:
        attackers = [f"127.0.1.{n}" for n in range(1, 13)]
        with serving(tmp_path, written(tmp_path), "--host", "0.0.0.0", password=PASSWORD) as running:
            assert "Set-Cookie" in try_password(running, PASSWORD, "127.0.0.8").headers
            told = [try_password(running, "guess", attacker).status for attacker in attackers * 4]
            assert told[-12:] == [429] * 12
            # 127.0.0.1 is the machine itself, 127.0.0.8 is an address that has logged in before.
            for owner in ("127.0.0.1", "127.0.0.8"):
                assert "Set-Cookie" in try_password(running, PASSWORD, owner).headers
            first = try_password(running, PASSWORD, "127.0.0.9")
            wait = int(first.headers["Retry-After"])
            assert first.status == 429 and wait <= len(attackers) + 1
            end = time.monotonic() + wait
            while time.monotonic() < end:
                for attacker in attackers:
                    try_password(running, "guess", attacker)
            assert "Set-Cookie" in try_password(running, PASSWORD, "127.0.0.9").headers


class TestGuesses:
    def test_each_address_has_a_limit(self) -> None:
        now = 0.0
        guesses = PasswordLimiter(lambda: now)
        allowed = [guesses.seconds_to_wait("192.0.2.1") == 0 for _ in range(20)]
        assert allowed == [True] * 5 + [False] * 15
        assert guesses.seconds_to_wait("192.0.2.1") == pytest.approx(1 / OF_ONE.per_second)
        assert guesses.seconds_to_wait("192.0.2.2") == 0
        now += 1 / OF_ONE.per_second
        assert [guesses.seconds_to_wait("192.0.2.1") == 0 for _ in range(2)] == [True, False]

    def test_all_addresses_together_have_a_limit(self) -> None:
        now = 0.0
        guesses = PasswordLimiter(lambda: now)
        allowed = sum(guesses.seconds_to_wait(f"192.0.2.{n}") == 0 for n in range(200))
        assert allowed == OF_ALL.burst
        now += 10
        assert sum(guesses.seconds_to_wait(f"192.0.3.{n}") == 0 for n in range(200)) == 10 * OF_ALL.per_second

    def test_the_addresses_of_one_network_are_one_visitor(self) -> None:
        guesses = PasswordLimiter(lambda: 0.0)
        allowed = [guesses.seconds_to_wait(f"2001:db8::{n:x}") == 0 for n in range(20)]
        assert sum(allowed) == OF_ONE.burst
        assert guesses.seconds_to_wait("2001:db8:0:1::1") == 0

    @pytest.mark.parametrize("owner", ["192.0.2.1", "127.0.0.1", "::1", "::ffff:127.0.0.1"])
    def test_guesses_from_many_addresses_do_not_shut_out_the_machine_and_known_addresses(
        self, owner: str
    ) -> None:
        now = 0.0
        guesses = PasswordLimiter(lambda: now)
        guesses.logged_in("192.0.2.1")
        for second in range(60):
            now = float(second)
            for n in range(500):
                guesses.seconds_to_wait(f"198.51.{second}.{n % 250}")
        assert guesses.seconds_to_wait(owner) == 0

    @pytest.mark.parametrize("attackers", [12, 100, 250])
    def test_a_new_visitor_waits_at_most_a_second_for_each_address_that_guesses(self, attackers: int) -> None:
        now = 0.0
        guesses = PasswordLimiter(lambda: now)

        def attack() -> None:
            for n in range(attackers):
                guesses.seconds_to_wait(f"203.0.113.{n}")

        while now < 300:
            now += 0.25
            attack()
        asked, wait = now, guesses.seconds_to_wait("192.0.2.1")
        assert wait <= attackers + 1
        while now < asked + wait:
            now += 0.25
            attack()
        assert guesses.seconds_to_wait("192.0.2.1") == 0

    def test_the_attempts_per_second_are_limited_in_total(self) -> None:
        now = 0.0
        guesses = PasswordLimiter(lambda: now)
        allowed = 0
        while now < 600:
            now += 0.5
            allowed += sum(guesses.seconds_to_wait(f"198.51.{n}.{now % 10:g}") == 0 for n in range(100))
        assert allowed <= OF_ALL.burst + 600 * (OF_ALL.per_second + TURNS_PER_SECOND)

    def test_a_turn_is_used_once_and_lapses(self) -> None:
        now = 0.0
        guesses = PasswordLimiter(lambda: now)

        def exhaust() -> None:
            for n in range(1, 41):
                guesses.seconds_to_wait(f"198.51.100.{n}")

        exhaust()
        waits = [guesses.seconds_to_wait(address) for address in ("192.0.2.1", "192.0.2.2")]
        assert waits == [21, 22]
        now = 21.0
        exhaust()
        assert [guesses.seconds_to_wait("192.0.2.1") == 0 for _ in range(2)] == [True, False]
        assert guesses.seconds_to_wait("192.0.2.2") == 1
        now += 1 + PLACE_SECONDS + 1
        for network in range(10):
            for n in range(100):
                guesses.seconds_to_wait(f"198.51.{network}.{n}")
        assert guesses.seconds_to_wait("192.0.2.2") > 1

    def test_one_network_leaves_places_in_the_queue_to_others(self) -> None:
        guesses = PasswordLimiter(lambda: 0.0)
        for n in range(2_000):
            guesses.seconds_to_wait(f"2001:db8:0:{n:x}::1")
        assert len(guesses._places) == MOST_PLACES_OF_NETWORK  # pyright: ignore[reportPrivateUsage]
        assert guesses.seconds_to_wait("192.0.2.1") == MOST_PLACES_OF_NETWORK + 1
        for n in range(2_000):
            guesses.seconds_to_wait(f"10.{n >> 8}.{n & 255}.1")
        assert len(guesses._places) == MOST_PLACES  # pyright: ignore[reportPrivateUsage]

    def test_the_number_of_known_addresses_is_limited(self) -> None:
        guesses = PasswordLimiter(lambda: 0.0)
        for n in range(MOST_KNOWN + 50):
            guesses.logged_in(f"192.0.2.{n}")
        assert len(guesses._known) == MOST_KNOWN  # pyright: ignore[reportPrivateUsage]

    def test_the_number_of_remembered_addresses_is_limited(self) -> None:
        guesses = PasswordLimiter(lambda: 0.0)
        for n in range(MOST_ADDRESSES + 50):
            guesses.seconds_to_wait(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}")
        assert len(guesses._by_address) <= MOST_ADDRESSES  # pyright: ignore[reportPrivateUsage]


class TestWrongStarts:
    def run(self, capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
        """Run ``graphneg serve`` with wrong options; return its error and assert status 2."""
        told = command_line(capfd)("serve", *arguments, "--store", "/nowhere")
        assert told.status == 2 and not told.out
        return " ".join(told.err.split())

    def test_a_port_in_use(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            said = self.run(capfd, written(tmp_path), "--port", str(port))
        assert f"127.0.0.1, port {port}: Address already in use; choose another with --host or --port" in said

    def test_a_host_of_another_machine(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        said = self.run(capfd, written(tmp_path), "--host", "127.0.0.1.example", "--port", "0")
        assert "127.0.0.1.example" in said

    def test_nothing_to_show(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert "nothing to show: give files of negatives" in self.run(capfd, "--port", "0")

    def test_a_file_that_is_missing_or_broken(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert "none.jsonl" in self.run(capfd, tmp_path / "none.jsonl", "--port", "0")
        (tmp_path / "broken.jsonl").write_text('{"id": 3', encoding="utf-8")
        assert "broken.jsonl, line 1: not JSON" in self.run(capfd, tmp_path / "broken.jsonl", "--port", "0")

    def test_questions_with_errors(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "mine.json"
        path.write_text('{"name": "mine", "title": "?"}', encoding="utf-8")
        said = self.run(capfd, written(tmp_path), "--questions", path, "--port", "0")
        assert "mine.json: not a file of questions: Object missing required field `questions`" in said

    def test_invalid_judgements(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "some.judgements.sqlite").write_text("no judgements" * 500, encoding="utf-8")
        said = self.run(capfd, written(tmp_path), "--port", "0")
        assert "some.judgements.sqlite: not a file of judgements, or damaged" in said

    def test_a_missing_extra(self) -> None:
        code = (
            "import sys; sys.modules['starlette'] = None\n"
            "from graphneg.cli import main; main(['serve', 'some.jsonl'])"
        )
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert told.returncode == 2
        assert 'pip install "graphneg[pages]"' in " ".join(told.stderr.split())


class TestUnreadResponses:
    """Connections that do not read a large response are closed, so that others can be served."""

    @pytest.fixture
    def address(self) -> Generator[tuple[str, int]]:
        async def page(scope: Scope, receive: Receive, send: Send) -> None:
            scope[HAS_SESSION] = scope["path"] == "/inside"
            await send({"type": "http.response.start", "status": 200, "headers": []})
            large = 0 if scope["path"] == "/small" else 8_000_000
            await send({"type": "http.response.body", "body": b"x" * large})

        listening = bound("127.0.0.1", 0)
        server = Server(Config(page, http=LimitedProtocol, lifespan="off", log_level="error"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()

    def test_they_are_closed_sooner_without_a_session(
        self, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "OUTSIDE_STALL_SECONDS", 0.5)
        with open_unread(address, "/large") as outside, open_unread(address, "/inside") as inside:
            time.sleep(2)
            assert received(outside) < 8_000_000 <= received(inside)

    def test_the_oldest_are_closed_when_there_are_too_many(
        self, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "MOST_OF_ONE", 2)
        with open_unread(address, "/inside") as inside, open_unread(address, "/large") as outside:
            time.sleep(PATIENCE_SECONDS + 0.5)
            with open_unread(address, "/small") as other:
                assert other.recv(12) == b"HTTP/1.1 200"
            assert received(outside) < 8_000_000 <= received(inside)

    @pytest.mark.skipif(sys.platform == "darwin", reason="macOS has only the address 127.0.0.1")
    def test_addresses_with_many_new_connections_do_not_shut_out_others(
        self, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "MOST", 8)
        with ExitStack() as stack:
            for number in range(8):
                source = (f"127.0.2.{number % 2 + 1}", 0)
                opened = stack.enter_context(socket.create_connection(address, 20, source))
                opened.sendall(b"GET /small HTTP/1.1\r\nHost: a")
            with socket.create_connection(address, 20, ("127.0.9.9", 0)) as other:
                other.sendall(b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
                assert other.recv(12) == b"HTTP/1.1 200"

    @pytest.mark.parametrize("body", [b"5\r\nwords_zz\r\n", b"zz\r\n", b"f" * 40])
    def test_a_malformed_body_after_the_response_ends_the_connection_without_a_traceback(
        self, address: tuple[str, int], body: bytes, caplog: pytest.LogCaptureFixture
    ) -> None:
        head = b"POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        with socket.create_connection(address, timeout=20) as connection:
            connection.sendall(head)
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
            connection.sendall(body)
            assert received(connection) < 400
        assert not [record for record in caplog.records if record.exc_info]

    def test_requests_that_are_sent_at_once_end_the_connection(self, address: tuple[str, int]) -> None:
        with open_unread(address, "/small", requests=3) as connection:
            assert received(connection) < 400


def received(connection: socket.socket) -> int:
    """Read until the server has sent a whole large response, or has closed the connection."""
    read = 0
    with suppress(ConnectionResetError):
        while read < 8_000_000 and (part := connection.recv(100_000)):
            read += len(part)
    return read
