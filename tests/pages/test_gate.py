"""Who gets in: tokens, hosts, origins, passwords, and what guards every answer; how a wrong start ends."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from graphneg.errors import InputError
from graphneg.pages.gate import Access, check_access, is_loopback
from graphneg.records.files import write_jsonl
from tests.cli_runs import command_line
from tests.negative_samples import EXAMPLE
from tests.pages.conftest import Served, serving

PASSWORD = "correct horse"


def written(folder: Path) -> Path:
    """A file of one negative."""
    write_jsonl([replace(EXAMPLE, target="response")], folder / "some.jsonl")
    return folder / "some.jsonl"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server on loopback."""
    folder = tmp_path_factory.mktemp("gate")
    with serving(folder, written(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server on every address of this machine."""
    folder = tmp_path_factory.mktemp("guarded")
    with serving(folder, written(folder), "--host", "0.0.0.0", password=PASSWORD) as running:
        yield running


class Answer:
    """What a server answers to one request."""

    def __init__(
        self, served: Served, path: str, method: str = "GET", body: str = "", **headers: str
    ) -> None:
        port = urlsplit(served.origin).port
        connection = http.client.HTTPConnection("127.0.0.1", port)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Host": f"127.0.0.1:{port}", **sent})
        answer = connection.getresponse()
        self.status, self.headers, self.text = answer.status, answer.headers, answer.read().decode()
        connection.close()


def cookie_of(served: Served) -> str:
    """The cookie of somebody who was let in."""
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
    def test_nobody_gets_in_without(self, served: Served, path: str) -> None:
        answer = Answer(served, path)
        assert answer.status == 403 and "open that one, with its token" in answer.text
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
            assert answer.status == 403 and "another Host" in answer.text

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

    def test_styles_are_all_that_anybody_gets(self, served: Served) -> None:
        assert Answer(served, "/static/pages.css").status == 200
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fgate.py", "/static/"):
            assert Answer(served, path).status in (403, 404)

    def test_what_is_not_there_is_said_in_a_line(self, served: Served) -> None:
        answer = Answer(served, "/<script>alert(1)</script>", Cookie=cookie_of(served))
        assert answer.status == 404 and "Not Found" in answer.text and "<script>alert" not in answer.text


class TestBeyondThisMachine:
    def test_a_password_is_asked_for(self, guarded: Served, visitor: Callable[[Served], Page]) -> None:
        assert "token" not in guarded.address
        local = replace(guarded, address=guarded.address.replace("0.0.0.0", "127.0.0.1"))
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

    def test_nothing_opens_without(self, guarded: Served) -> None:
        assert Answer(guarded, "/review").headers["Location"] == "/login"
        assert Answer(guarded, "/review?token=x").headers["Location"] == "/login"
        origin = {"Origin": guarded.origin.replace("0.0.0.0", "127.0.0.1")}
        assert Answer(guarded, "/review/begin", "POST", "annotator=ann", **origin).status == 403
        assert "Set-Cookie" not in Answer(guarded, "/login", "POST", "password=guess", **origin).headers

    def test_names_of_other_sites_are_refused(self, guarded: Served) -> None:
        port = urlsplit(guarded.origin).port
        assert Answer(guarded, "/login", Host=f"evil.example:{port}").status == 403
        assert Answer(guarded, "/login", Host=f"192.0.2.7:{port}").status == 200

    @pytest.mark.parametrize("password", ["", "short"])
    def test_it_is_required(self, password: str) -> None:
        check_access("localhost", password)
        with pytest.raises(InputError, match=r"--host 0\.0\.0\.0: .* password of 8 letters or more"):
            check_access("0.0.0.0", password)

    def test_loopback_is_known_by_its_addresses(self) -> None:
        assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
        assert not any(map(is_loopback, ("0.0.0.0", "::", "192.0.2.7", "example.org", "")))


class TestWrongStarts:
    def run(self, capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
        """What is said where it ends with 2; one line."""
        told = command_line(capfd)("serve", *arguments, "--store", "/nowhere")
        assert told.status == 2 and not told.out
        return " ".join(told.err.split())

    def test_a_port_in_use(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            said = self.run(capfd, written(tmp_path), "--port", str(port))
        assert f"127.0.0.1, port {port}: Address already in use; name another with --host or --port" in said

    def test_a_host_of_another_machine(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        said = self.run(capfd, written(tmp_path), "--host", "127.0.0.1.example", "--port", "0")
        assert "127.0.0.1.example" in said

    def test_nothing_to_show(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert "nothing to show: name files of negatives" in self.run(capfd, "--port", "0")

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
        assert "mine.json: no file of questions: Object missing required field `questions`" in said

    def test_judgements_that_are_none(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "some.judgements.sqlite").write_text("no judgements" * 500, encoding="utf-8")
        said = self.run(capfd, written(tmp_path), "--port", "0")
        assert "some.judgements.sqlite: no file of judgements, or damaged" in said

    def test_a_missing_extra(self) -> None:
        code = (
            "import sys; sys.modules['starlette'] = None\n"
            "from graphneg.cli import main; main(['serve', 'some.jsonl'])"
        )
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert told.returncode == 2
        assert 'pip install "graphneg[pages]"' in " ".join(told.stderr.split())
