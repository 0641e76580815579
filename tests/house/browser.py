"""A Chromium without a window, driven by its DevTools protocol over a pipe: JSON, each message
ended by a zero byte."""
import fcntl
import json
import os
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium")


class Browser:
    def __init__(self, profile):
        (commands, self.to), (self.answers, out) = os.pipe(), os.pipe()
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                   f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        # Chromium wants 3 and 4, which may be in use here
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (commands, out)]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{high[0]} 4>&{high[1]}', "bash", *command], pass_fds=high,
            stderr=subprocess.DEVNULL)
        list(map(os.close, (commands, out, *high)))
        # requests: what pages ask for
        self.unread, self.number, self.requests, self.session = b"", 0, [], {}
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self.ask("Target.attachToTarget", targetId=target,
                                              flatten=True)["sessionId"]}
        self.ask("Page.enable")
        self.ask("Network.enable")

    def read(self):
        while b"\0" not in self.unread:
            self.unread += os.read(self.answers, 1 << 20) or pytest.fail("Chromium has ended")
        line, self.unread = self.unread.split(b"\0", 1)
        message = json.loads(line)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def ask(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters, **self.session}
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while (message := self.read()).get("id") != self.number:
            pass
        assert "error" not in message, message
        return message["result"]

    def open(self, url, width):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=False)
        self.ask("Page.navigate", url=url)
        while self.read().get("method") != "Page.loadEventFired":
            pass

    def value(self, javascript):
        found = self.ask("Runtime.evaluate", expression=javascript, awaitPromise=True,
                         returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")
