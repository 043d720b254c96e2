"""Headless browser for tests of pages: drives Chromium by its DevTools protocol over two pipes, without further
packages."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIMIT = 60.0  # seconds for one reply, on a busy machine


def executable() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page; use as a context manager."""

    def __init__(self, program: str, dark: bool = False):
        self.folder = tempfile.mkdtemp(prefix="browser-")
        reads, self.to = os.pipe()
        self.back, writes = os.pipe()

        def place_pipes() -> None:  # the protocol uses descriptors 3 and 4
            high = [os.dup(reads), os.dup(writes)]
            high = [os.dup(each) if each in (3, 4) else each for each in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        words += [
            f"--user-data-dir={self.folder}",
            "--no-first-run",
            "--disable-dev-shm-usage",
            "--window-size=1400,1000",
        ]
        words += ["--force-dark-mode"] if dark else []
        self.process = subprocess.Popen(
            [*words, "about:blank"], preexec_fn=place_pipes, close_fds=False, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(reads)
        os.close(writes)
        self.asked, self.heard, self.session = 0, b"", None

    def __enter__(self) -> Browser:
        target = self.say("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.say("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.session = None
            self.say("Browser.close")  # so that it ends its own children
            self.process.wait(LIMIT)
        finally:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, method: str, **params: object) -> dict[str, Any]:
        self.asked += 1
        message: dict[str, Any] = {"id": self.asked, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        limit = time.monotonic() + LIMIT
        while True:
            said = json.loads(self.next(limit))
            if said.get("id") == self.asked:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']['message']}")
                return said["result"]

    def next(self, limit: float) -> bytes:
        while b"\0" not in self.heard:
            ready, _, _ = select.select([self.back], [], [], max(0.0, limit - time.monotonic()))
            piece = os.read(self.back, 1 << 16) if ready else b""
            if not piece:
                raise RuntimeError("the browser says nothing")
            self.heard += piece
        message, self.heard = self.heard.split(b"\0", 1)
        return message

    def ask(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression on the page; raises an error that it throws."""
        said = self.say("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(said["exceptionDetails"]["exception"].get("description", "an error on the page"))
        return said["result"].get("value")

    def open(self, page: Path) -> None:
        address = page.resolve().as_uri()
        self.say("Page.navigate", url=address)
        there = f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'"
        limit = time.monotonic() + LIMIT
        while not self.ask(there):
            if time.monotonic() > limit:
                raise RuntimeError(f"{page} does not load")

    def click(self, selector: str) -> None:
        """Clicks at the element's position, as a user does, not on the element."""
        place = self.ask(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
            " return [r.x + Math.min(r.width / 2, 20), r.y + Math.min(r.height / 2, 12)]; })"
            f"(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.say("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def type(self, text: str) -> None:
        for letter in text:
            self.say("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            self.say("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def press(self, key: str) -> None:
        more = {"text": "\r"} if key == "Enter" else {}
        self.say("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.say("Input.dispatchKeyEvent", type="keyUp", key=key)
