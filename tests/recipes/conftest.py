"""A server on the loopback address for tests of downloads."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from asr.util.text_lines import GZIP_MAGIC

CONTENT = GZIP_MAGIC + bytes(range(256)) * 400


class Server:
    """A server of files by name, and of `content` under every other name, whose answers can break off."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.cut_after: list[int] = []
        """Bytes after which the next answers break off."""
        self.lie: str | None = None
        """A Content-Range to send instead of the right one."""
        self.asked: list[str | None] = []
        self.url = ""


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.asked.append(asked)
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and state.ranges else 0
            content = state.files.get(self.path.rpartition("/")[2], state.content)
            size = len(content)
            if start >= size and start:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = content[start:]
            self.send_response(206 if asked and state.ranges else 200)
            if asked and state.ranges:
                self.send_header("Content-Range", state.lie or f"bytes {start}-{size - 1}/{size}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cut_after.pop(0)] if state.cut_after else body)

        def log_message(self, format: str, *values: object) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{served.server_address[1]}/file"
    thread = threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield state
    served.shutdown()
    served.server_close()
    thread.join()
