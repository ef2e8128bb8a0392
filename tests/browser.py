"""A real Chromium for tests, driven over the pipe of its own debugging protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--hide-scrollbars", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip
ANSWER_TIMEOUT_S = 60.0


def find_browser() -> str:
    """Return the program; skips the test where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser is installed: none of {', '.join(NAMES)} (apt install chromium)")
    return found


class Browser:
    """A browser with one tab; `messages` are what pages logged and which scripts ran."""

    def __init__(self, program: str, profile: str) -> None:
        read_end, to_browser = os.pipe()
        from_browser, write_end = os.pipe()
        # The protocol is spoken on descriptors 3 and 4.
        line = f'exec "$0" "$@" 3<&{read_end} 4>&{write_end}'
        words = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        # Nothing of the user: no session bus, no settings.
        env = {"PATH": os.defpath, "HOME": profile, "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            ["bash", "-c", line, *words],
            pass_fds=(read_end, write_end),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        os.close(read_end)
        os.close(write_end)
        self._to, self._from = to_browser, from_browser
        self._rest, self._number, self._session = b"", 0, ""
        self.messages: list[str] = []

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Debugger"):
            self.call(f"{domain}.enable")
        self.messages.clear()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, AssertionError):
            self._session = ""
            self.call("Browser.close")
        os.close(self._to)
        os.close(self._from)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def call(self, method: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401 – the protocol's
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        for answer in self._answers():
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
        raise AssertionError(f"no answer to {method}")

    def _answers(self) -> Iterator[dict[str, Any]]:
        """Yield what the browser says, and note what pages log."""
        end = time.monotonic() + ANSWER_TIMEOUT_S
        while time.monotonic() < end:
            while b"\0" in self._rest:
                one, _, self._rest = self._rest.partition(b"\0")
                answer: dict[str, Any] = json.loads(one)
                self._note(answer)
                yield answer
            if select.select([self._from], [], [], 1.0)[0]:
                data = os.read(self._from, 1 << 20)
                assert data, "the browser has ended"
                self._rest += data

    def _note(self, answer: dict[str, Any]) -> None:
        values = answer.get("params", {})
        match answer.get("method"):
            case "Runtime.consoleAPICalled":
                self.messages.append(f"console: {values['args']}")
            case "Runtime.exceptionThrown":
                self.messages.append(f"exception: {values['exceptionDetails']['text']}")
            case "Log.entryAdded":
                self.messages.append(f"log: {values['entry']['text']}")
            case "Debugger.scriptParsed" if values["url"] and not values.get("isInternal"):
                self.messages.append(f"script: {values['url']}")
            case "Page.javascriptDialogOpening":
                self.messages.append(f"dialog: {values['message']}")

    # the page

    def show(
        self, path: str | Path, *, width: int = 1280, height: int = 800, dark: bool = False
    ) -> float:
        """Load a file and return how many seconds that took."""
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[scheme])
        began = time.monotonic()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while self.run("document.readyState + location.protocol") != "completefile:":
            time.sleep(0.01)
        seconds = time.monotonic() - began
        self.settle()  # before the first picture a page takes no key
        return seconds

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def run(self, expression: str) -> Any:  # noqa: ANN401 – any JSON value
        """Return the value of an expression of the test's own in the page."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def settle(self) -> None:
        """Wait until the page has been laid out and drawn twice."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, key: str, code: int) -> None:
        """Press and release a key, and wait until the page has done what that asks for."""
        values = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **values, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **values)
        self.settle()

    def picture(self, path: str | Path, *, full: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=full)
        Path(path).write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """Yield a browser with a profile of its own."""
    program = find_browser()
    with (
        tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile,
        Browser(program, profile) as browser,
    ):
        yield browser
