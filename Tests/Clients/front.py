"""What a walk with a client sees: a server behind a proxy that writes everything down, and a home of its own."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from proxy import LoggingProxy


class Unmet(Exception):
    """A client did not do what its walk says."""


def words(text):
    """An argument in the protocol's quotes."""
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


class Front:
    """One walk of one client before one server."""

    host = "127.0.0.1"

    def __init__(self, server, name, display=None, pictures=None, is_patient=False):
        self.server = server
        self.name = name
        self.display = display
        self.pictures = pictures
        self.is_patient = is_patient  # whether the walk may wait for what takes long
        self.proxy = LoggingProxy(server)
        self.port = self.proxy.port
        self.home = tempfile.mkdtemp(prefix="shelvmpd-client-")
        self.children = []
        self.transcript = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            stop_group(child)
        self.proxy.close()
        shutil.rmtree(self.home, ignore_errors=True)

    # MARK: the server, directly

    def ask(self, *commands):
        """The lines of the answers, without the closing ones; by a connection of its own, past the proxy."""
        with socket.create_connection((self.host, self.server), 10) as connection:
            lines = connection.makefile(encoding="utf-8", errors="replace")
            lines.readline()
            answer = []
            for command in commands:
                connection.sendall(command.encode() + b"\n")
                for line in lines:
                    if line.startswith("ACK "):
                        raise Unmet(f"{command}: {line.strip()}")
                    if line == "OK\n":
                        break
                    answer.append(line.rstrip("\n"))
            return answer

    def pairs(self, command):
        """The answer as a dictionary."""
        return dict(line.split(": ", 1) for line in self.ask(command))

    def status(self):
        return self.pairs("status")

    def reset(self):
        """The state that every walk begins with: nothing plays, nothing is queued, all is as at the first start."""
        self.ask("stop", "clear", "random 0", "repeat 0", "single 0", "consume 0", "crossfade 0", "mixrampdb 0",
                 "mixrampdelay nan", "replay_gain_mode off", "setvol 100", "clearerror", "enableoutput 0", "enableoutput 1")
        for line in self.ask("listplaylists"):
            if line.startswith("playlist: "):
                self.ask(f"rm {words(line[10:])}")

    def note(self, *lines):
        """Keeps lines that must be the same before another server."""
        self.transcript += lines

    # MARK: waiting

    def until(self, what, condition, seconds=30):
        """Looks until something is true, for what no event tells."""
        deadline = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise Unmet(f"{what}: not within {seconds} s")
            time.sleep(0.02)

    def again_until(self, act, condition, seconds=30):
        """Does something until it has come of it: a program that is still drawing, or has not heard of the last change yet, does not
        take it. It must not matter that it is done once more."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise Unmet(f"nothing came of what was done for {seconds} s")
            act()
            step = time.monotonic() + 2
            while not condition() and time.monotonic() < step:
                time.sleep(0.02)

    def bring_about(self, act, **wanted):
        """Does something, such as pressing a button that switches, until the status has these values: a client that has not heard of the
        last change yet asks for the wrong thing, or for nothing."""
        self.again_until(act, lambda: wanted.items() <= self.status().items())

    def until_status(self, **wanted):
        """Waits until the status has these values; `None` means that the line is not there."""
        seen = {}

        def holds():
            seen.update({key: None for key in wanted}, **self.status())
            return all(seen[key] == value for key, value in wanted.items())

        try:
            self.until(f"status {wanted}", holds, 15)
        except Unmet as error:
            raise Unmet(f"{error}, but {({key: seen[key] for key in wanted})}") from None

    def until_asked(self, beginning, count=1):
        """Waits until the client has asked something."""
        self.until(f"the request {beginning!r}", lambda: len(self.proxy.asked(beginning)) >= count)

    def expect(self, what, seen, wanted):
        if seen != wanted:
            raise Unmet(f"{what}: {seen!r} instead of {wanted!r}")

    # MARK: programs

    def environment(self, **more):
        """Variables of a desktop that is new, with the server where clients look for it."""
        kept = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
        if self.display:
            kept["DISPLAY"] = self.display
        return {**kept, "HOME": self.home, "XDG_CONFIG_HOME": self.path(".config"), "XDG_CACHE_HOME": self.path(".cache"),
                "XDG_DATA_HOME": self.path(".local/share"), "XDG_RUNTIME_DIR": self.path(".run", make=True),
                "LC_ALL": "C.UTF-8", "TERM": "screen-256color", "NO_AT_BRIDGE": "1", "GTK_A11Y": "none",
                "MPD_HOST": self.host, "MPD_PORT": str(self.port), **more}

    def path(self, name, make=False):
        path = os.path.join(self.home, name)
        if make:
            os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def write(self, name, text):
        """Writes a file of the client's, and gives its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def read(self, name):
        """What is in a file; an empty text where there is none."""
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as text:
                return text.read()
        except OSError:
            return ""

    def run(self, *command, expect=0, text=True, seconds=60, **variables):
        """Runs a program to its end and gives its output."""
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=text,
                             env=self.environment(**variables), timeout=seconds)
        if expect is not None and run.returncode != expect:
            raise Unmet(f"{' '.join(command)}: status {run.returncode}: {run.stderr!r}")
        return run.stdout

    def start(self, *command, **variables):
        """Starts a program that the end of the walk ends, with all that it has started. Its output is in `log`."""
        with open(self.path("log"), "ab") as log:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                     env=self.environment(**variables), cwd=self.home)
        self.children.append(child)
        return child


def stop_group(child):
    """Ends a program that leads a session of its own, and what it has left in it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            break
        try:
            child.wait(3)
        except subprocess.TimeoutExpired:
            continue
