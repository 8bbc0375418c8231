"""browser.py - a headless Chromium for tests of pages, driven through its DevTools protocol over a pipe.

Used by tests of pages in tests/process/, on one thread.  What the page says on its console, what it throws and what it asks the network for is collected, so that a test
can demand that there is nothing.  Everything waits for something that happens.  A page that does not get there in PATIENCE seconds is a failure.  A browser
that does not answer itself says nothing about the page: with_browser() begins again once, and then skips what it was wanted for.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import Tap  # noqa: E402,F401 for its users

PATIENCE = 120  # seconds; ends what hangs, says nothing about speed
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars"]
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, " ": 32}


def find():
    """The browser that is installed, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Silent(Exception):
    """The browser does not answer."""


class Stuck(Exception):
    """The browser answers, the page does not."""


def with_browser(tap, work, make=None):
    """work(browser) with a browser of its own; again from its beginning when the first one fell silent."""
    if find() is None:
        tap.skip("in a browser", "no Chromium")
        return
    before = tap.state
    for attempt in (1, 2):
        browser = (make or Browser)()
        try:
            browser.start()
            work(browser)
            return
        except Silent as why:
            tap.state = before
            if attempt == 2:
                tap.skip("in a browser", f"{why}, twice; load {os.getloadavg()[0]:.0f}")
        except Stuck as why:
            tap.state = before
            if attempt == 2:
                tap.check("in a browser", False, str(why))
        finally:
            browser.close()


class Browser:
    """Nothing is asked of it before start()."""

    patience = None  # with a page, in seconds; None: PATIENCE

    def __init__(self, width=1440, height=900, scale=1):
        self.directory = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.out, to_write = os.pipe()
        command = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(["sh", "-c", command, "sh", find(), *FLAGS, f"--user-data-dir={self.directory}", "about:blank"],
                                        pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = bytearray()
        self.number = 0
        self.session = None
        self.console, self.thrown, self.requests = [], [], []
        self.size = width, height, scale

    def start(self):
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(*self.size)

    def close(self):
        os.close(self.to)
        os.close(self.out)
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    # ---- the protocol

    def read(self, patience=None):
        patience = patience or PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.out], [], [], patience)[0]:
                raise Silent(f"the browser did not answer for {patience} s")
            piece = os.read(self.out, 1 << 20)
            if not piece:
                raise Silent("the browser has gone")
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def note(self, message):
        method, params = message["method"], message["params"]
        if method == "Runtime.consoleAPICalled":
            self.console.append((params["type"], [a.get("value", a.get("description")) for a in params["args"]]))
        elif method == "Log.entryAdded":
            self.console.append((params["entry"]["level"], params["entry"]["text"]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.thrown.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def send(self, method, params, session):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]

    def answer(self, patience=None):
        while True:
            answer = self.read(patience)
            if answer.get("id") == self.number:
                return answer
            if "method" in answer:
                self.note(answer)

    def call(self, method, **params):
        try:
            self.send(method, params, self.session)
            answer = self.answer(self.session and self.patience)
        except BrokenPipeError:
            raise Silent("the browser has gone") from None
        except Silent:
            if self.session:
                self.send("Browser.getVersion", {}, None)
                self.answer()  # or Silent
                raise Stuck(f"the page did not answer for {self.patience or PATIENCE} s: {method}") from None
            raise
        if "error" in answer:
            raise RuntimeError(f'{method}: {answer["error"]["message"]}')
        return answer["result"]

    # ---- what a test does

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def prefer(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])

    def open(self, path):
        self.call("Page.navigate", url="file://" + os.path.abspath(path))

    def eval(self, expression):
        """What a JavaScript expression (or a promise) gives."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "thrown"))
        return answer["result"].get("value")

    def wait(self, expression):
        """Until the expression is true; gives it."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                value = self.eval(expression)
            except RuntimeError:
                value = None  # not there yet
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"never: {expression}")
            time.sleep(0.01)

    def box(self, selector):
        return self.eval(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                         " return [b.left, b.top, b.width, b.height]; })()")

    def middle(self, selector):
        left, top, width, height = self.box(selector)
        return left + width / 2, top + height / 2

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click_at(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=count)
        self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def click(self, selector):
        self.click_at(*self.middle(selector))

    def drag(self, x, y, to_x, to_y, **more):
        self.mouse("mouseMoved", x, y, **more)
        self.mouse("mousePressed", x, y, button="left", clickCount=1, **more)
        for step in (0.5, 1):
            self.mouse("mouseMoved", x + (to_x - x) * step, y + (to_y - y) * step, button="left", buttons=1, **more)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1, **more)

    def wheel(self, x, y, delta_y, **more):
        self.mouse("mouseWheel", x, y, deltaX=more.pop("delta_x", 0), deltaY=delta_y, **more)

    def key(self, key, modifiers=0):
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, windowsVirtualKeyCode=code, text=text,
                  modifiers=modifiers)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
