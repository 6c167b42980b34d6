"""Drives a real browser, Chromium without a window, over its debugging pipe (Chrome DevTools Protocol)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from select import select
from types import TracebackType
from typing import Any, Self

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60
"""Seconds until a browser that says nothing has failed."""


class Browser:
    """One page of a browser. `requests` are the addresses it asked for, `complaints` what its console holds."""

    def __init__(self, profile: Path) -> None:
        assert PROGRAM
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        flags = ["--headless=new", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        # The browser wants its pipe at the descriptors 3 and 4, which may be in use for something else here.
        script = 'exec 8<&"$1" 9>&"$2" 3<&8 4>&9 8<&- 9>&-; shift 2; exec "$@"'
        command = ["bash", "-c", script, "bash", str(theirs_in), str(theirs_out), PROGRAM, *flags, "about:blank"]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), stdout=quiet, stderr=quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.do(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._session = None
        with suppress(AssertionError, BrokenPipeError):
            self.do("Browser.close")
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def do(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the browser for something, and wait for its answer."""
        self._last += 1
        asked = {"id": self._last, "method": method, "params": params}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while (message := self._next()).get("id") != self._last:
            self._events.append(message)
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def open(self, page: Path) -> None:
        """Load a page, to its end."""
        self._events.clear()
        self.do("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._events.append(self._next())

    def evaluate(self, script: str) -> Any:
        """What a script in the page comes to."""
        answer = self.do("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def look(self, width: int, height: int = 800, scheme: str = "light", media: str = "") -> None:
        """Show it in a window of that size, on a light or dark ground, or as it is printed."""
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.do("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, whole: bool = False) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.do("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    @property
    def requests(self) -> list[str]:
        self.do("Page.getNavigationHistory")  # so that what happened before has been told
        sent = (event["params"] for event in self._events if event["method"] == "Network.requestWillBeSent")
        return [params["request"]["url"] for params in sent]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        told = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self._events if event["method"] in told]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select([self._in], [], [], PATIENCE)[0], "the browser does not answer"
            more = os.read(self._in, 1 << 16)
            assert more, "the browser ended"
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found
