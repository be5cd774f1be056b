"""A headless Chromium for tests of pages, by its debugging protocol over pipes: no port, and no further package."""

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PROGRAM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--mute-audio", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--autoplay-policy=no-user-gesture-required", "--remote-debugging-pipe",
)  # fmt: skip
_PATIENCE = 15.0  # seconds for an answer, on a busy machine


class Browser:
    """One page, and the errors of its console."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers, self._number, self._buffer = requests, answers, 0, b""
        self.errors: list[str] = []
        self._session: str | None = None
        self._loaded = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; raise RuntimeError if it fails."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._requests, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, path: Path, width: int = 1280, *, dark: bool = False) -> None:
        """Load a file in a window of this width."""
        self.errors.clear()
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        self.send("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._note(self._receive())

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression, which may be a promise."""
        found = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def _note(self, event: dict[str, Any]) -> None:
        method, details = event.get("method"), event.get("params", {})
        self._loaded |= method == "Page.loadEventFired"
        if (
            method == "Runtime.exceptionThrown"
            or (method == "Log.entryAdded" and details["entry"]["level"] == "error")
            or (method == "Runtime.consoleAPICalled" and details["type"] in ("error", "assert"))
            or (method == "Network.requestWillBeSent" and not details["request"]["url"].startswith(("file:", "data:")))
        ):
            self.errors.append(json.dumps(event))

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            if not ready or not (piece := os.read(self._answers, 1 << 20)):
                raise RuntimeError("no answer of the browser")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium with a new profile, and end it at the exit of the block."""
    assert PROGRAM is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The protocol uses the descriptors 3 and 4.
        shell = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", PROGRAM, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Browser(ours_out, ours_in)
        finally:
            os.close(ours_out)
            os.close(ours_in)
            process.terminate()
            process.wait(timeout=_PATIENCE)
