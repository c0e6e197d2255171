"""Run an HTTP server in the test process that answers requests by calling a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[[dict[str, Any], int], Any]
"""Function that takes the body of a request and the number of the request, from 1. It returns a dict, which
is sent as JSON, or an iterable of bytes, which are sent unchanged."""


@contextmanager
def answering(answer: Answering) -> Generator[tuple[str, list[dict[str, Any]]]]:
    """Yield the address of a server and the bodies of all requests that it gets."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            bodies.append(body)
            content = answer(body, len(bodies))
            parts: Iterable[bytes] = content
            if isinstance(content, dict):
                parts = [b"HTTP/1.1 200 OK\r\n\r\n", json.dumps(content).encode()]
            try:
                for part in parts:
                    self.wfile.write(part)
                    self.wfile.flush()
            except OSError:  # The client has closed the connection, for example after its timeout.
                pass
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", bodies
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def said(content: Any, ending: str = "stop", **message: Any) -> dict[str, Any]:
    """Return an answer of OpenAI's chat API with the given content and finish reason."""
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": ending}]}
