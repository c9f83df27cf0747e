"""A real Subsonic server for demo and tests: Debian's supysonic under gunicorn, on loopback."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse


class Failed(Exception):
    """Something did not start; the text is for the user."""


class SubsonicServer:
    """Supysonic with one user and one folder of music. Its files are in `state`, which may be used again."""

    user = "demo"
    password = "demo"

    def __init__(self, state, music, port=0):
        self.state = os.path.abspath(state)
        self.music = os.path.abspath(music)
        self.process = None
        os.makedirs(self.state, exist_ok=True)
        # Given to gunicorn as it is, so that nobody can take the port in between.
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", port))
        self.socket.listen(64)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        # Supysonic reads /etc/supysonic, files in HOME, and supysonic.conf where it runs; the last one wins.
        self.environment = {**os.environ, "HOME": self.state, "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}
        with open(os.path.join(self.state, "supysonic.conf"), "w", encoding="utf-8") as out:
            out.write(f"""[base]
database_uri = sqlite:///{self.state}/supysonic.db
scanner_extensions = flac mp3 ogg opus m4a
[webapp]
cache_dir = {self.state}/cache
log_file =
log_level = WARNING
mount_webui = off
[daemon]
socket = {self.state}/daemon.sock
run_watcher = no
""")

    def prepare(self):
        """Makes the user and the folder at the first time, and looks for new and changed files."""
        for program in ("supysonic-cli", "gunicorn"):
            if not shutil.which(program):
                raise Failed(f"{program} is missing; Scripts/install-packages demo brings it")
        made = os.path.join(self.state, "made")
        wanted = f"{self.music}\n"
        if not os.path.exists(made) or open(made, encoding="utf-8").read() != wanted:
            for name in ("supysonic.db", "supysonic.db-journal"):
                if os.path.exists(os.path.join(self.state, name)):
                    os.remove(os.path.join(self.state, name))
            self.command("user", "add", self.user, "-p", self.password)
            self.command("user", "setroles", "-A", self.user)
            self.command("folder", "add", "Music", self.music)
            with open(made, "w", encoding="utf-8") as out:
                out.write(wanted)
        self.command("folder", "scan", "--foreground", "Music")

    def command(self, *words):
        run = subprocess.run(["supysonic-cli", *words], cwd=self.state, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode:
            raise Failed(f"supysonic-cli {' '.join(words)} failed:\n{run.stdout}")

    def start(self, seconds=30, own_session=False):
        """Starts it and waits until it answers. With its own session a Ctrl-C at the terminal does not reach it."""
        with open(os.path.join(self.state, "server.log"), "wb") as log:
            self.process = subprocess.Popen(
                ["gunicorn", "--bind", f"fd://{self.socket.fileno()}", "--workers", "1", "--threads", "4", "--log-level", "warning",
                 "supysonic.web:create_application()"],
                cwd=self.state, env=self.environment, pass_fds=[self.socket.fileno()], stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=own_session)
        deadline = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None:
                raise Failed(f"the Subsonic server ended at once; see {self.state}/server.log")
            try:
                if self.ask("ping")["status"] == "ok":
                    return
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                pass
            if time.monotonic() > deadline:
                raise Failed(f"the Subsonic server does not answer; see {self.state}/server.log")
            time.sleep(0.05)

    def ask(self, method, **parameters):
        """The answer of one call."""
        query = urllib.parse.urlencode({"u": self.user, "p": self.password, "v": "1.10.2", "c": "check", "f": "json", **parameters})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", f"/rest/{method}.view?{query}")
            return json.load(connection.getresponse())["subsonic-response"]
        finally:
            connection.close()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            # At once; after SIGTERM it would wait for clients that keep their connections.
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None
        self.socket.close()


def main():
    """subsonic_server.py STATE MUSIC [PORT]: runs a server until SIGTERM, SIGINT or SIGHUP; says READY URL PID."""
    state, music, *port = sys.argv[1:]
    starter = os.getppid()
    server = SubsonicServer(state, music, int(port[0]) if port else 0)

    def stop(_signal, _frame):
        raise SystemExit(0)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        server.prepare()
        server.start()
        print(f"READY {server.url} {server.process.pid}", flush=True)
        # Ends with whoever started it, too: a test that crashes cannot stop it.
        while server.process.poll() is None and os.getppid() == starter:
            time.sleep(0.2)
        return 1
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
