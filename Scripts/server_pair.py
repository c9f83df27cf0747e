"""ShelvMPD and a real MPD on the same music, for scripts that compare them."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from subsonic_server import Failed, SubsonicServer

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def free_port():
    with socket.socket() as test:
        test.bind(("127.0.0.1", 0))
        return test.getsockname()[1]


def quoted(text):
    return '"%s"' % str(text).replace("\\", "\\\\").replace('"', '\\"')


OUTPUTS = "".join(f'audio_output {{\n    type "null"\n    name "Null{n}"\n    %s\n}}\n' for n in ("", " 2"))


# What both servers are configured with, beside the rest, for the scenarios that need it.
GROUPS = {
    "default": "",
    "passwords": """default_permissions ""
password "dt-full@read,add,player,control,admin"
password "dt-read@read"
password "dt-add@read,add"
password "dt-player@read,player"
password "dt-control@read,control"
password "dt-admin@read,admin"
""",
    "limits": """max_playlist_length "20"
max_command_list_size "4"
max_connections "8"
connection_timeout "3"
""",
}
PASSWORDS = {"passwords": "dt-full"}


def candidate_configuration(folder, port, url, user, password, mode="mpd", more=""):
    jump = "pointer" if mode == "mpd" else "move"
    path = os.path.join(folder, "shelvmpd.conf")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"""bind_to_address "127.0.0.1"
port            "{port}"
queue_mode      "{mode}"
jump            "{jump}"
shelves         "no"
mixes           "no"
cover_size      "original"
state_directory {quoted(folder + "/state")}
cache_directory {quoted(folder + "/cache")}
subsonic_server {{
    name     "music"
    url      {quoted(url)}
    user     {quoted(user)}
    password {quoted(password)}
}}
{more}{OUTPUTS.replace("%s", "")}""")
    os.chmod(path, 0o600)
    return path


def reference_configuration(folder, port, music, more=""):
    path = os.path.join(folder, "mpd.conf")
    os.makedirs(os.path.join(folder, "playlists"), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"""music_directory    {quoted(music)}
playlist_directory {quoted(folder + "/playlists")}
db_file            {quoted(folder + "/database")}
sticker_file       {quoted(folder + "/stickers")}
log_file           {quoted(folder + "/mpd.log")}
pid_file           {quoted(folder + "/mpd.pid")}
bind_to_address    "127.0.0.1"
port               "{port}"
zeroconf_enabled   "no"
auto_update        "no"
filesystem_charset "UTF-8"
{more}{OUTPUTS.replace("%s", 'mixer_type "software"', 1).replace("%s", 'mixer_type "null"')}""")
    return path


def ask(port, command, password=None):
    """The pairs of a reply."""
    command = f"password {password}\n{command}" if password else command
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(command.encode() + b"\nclose\n")
        lines = connection.makefile(encoding="utf-8", errors="replace").read().splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def wait_for(process, name, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        if process.poll() is not None:
            raise Failed(f"{name} ended with status {process.returncode}")
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise Failed(f"{name} is not ready after {seconds} s")
        time.sleep(0.05)


def tail(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return log.read()[-8000:]


def stop(process):
    if process is not None and process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class ServerPair:
    """The tone library of Scripts/make-library, played by a real MPD (`reference`) and, from supysonic, by the program.

    Both are ready, and know the same songs, inside the `with` block. With `for_crowds`, thousands of clients may come, to
    `candidate_path` and `reference_path` too, which are socket files.
    """

    def __init__(self, program, for_crowds=False, group="default", **settings):
        self.program = program
        self.for_crowds = for_crowds
        self.more = GROUPS[group]
        self.password = PASSWORDS.get(group)
        self.settings = settings
        self.folder = self.reference = self.candidate = self.server = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        music = os.path.join(ROOT, ".build", "tone-library")
        subprocess.run([os.path.join(HERE, "make-library"), music, "--set", "tests"], check=True)
        self.folder = tempfile.mkdtemp(prefix="shelvmpd-pair-")
        self.reference_port, self.candidate_port = free_port(), free_port()
        self.reference_path, self.candidate_path = (os.path.join(self.folder, name) for name in ("mpd.sock", "shelvmpd.sock"))
        with open(os.path.join(self.folder, "log"), "wb") as log:
            configuration = reference_configuration(self.folder, self.reference_port, music, self.more)
            if self.for_crowds:
                self.add_sockets(configuration, self.reference_path)
            self.reference = subprocess.Popen(
                ["mpd", "--no-daemon", configuration],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            self.server = server = SubsonicServer(os.path.join(self.folder, "subsonic"), music)
            server.prepare()
            server.start()
            configuration = candidate_configuration(
                self.folder, self.candidate_port, server.url, server.user, server.password, more=self.more, **self.settings)
            if self.for_crowds:
                self.add_sockets(configuration, self.candidate_path)
            self.candidate = subprocess.Popen([self.program, "--config", configuration],
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        def asked(port, command):
            return ask(port, command, self.password)

        wait_for(self.reference, "mpd", lambda: asked(self.reference_port, "update"))
        wait_for(self.reference, "mpd's database", lambda: "updating_db" not in asked(self.reference_port, "status"))
        songs = asked(self.reference_port, "stats")["songs"]
        try:
            wait_for(self.candidate, "shelvmpd", lambda: asked(self.candidate_port, "stats").get("songs") == songs)
        except Failed as error:
            raise Failed(f"{error}:\n{self.log()}")

    @staticmethod
    def add_sockets(configuration, path):
        with open(configuration, "a", encoding="utf-8") as out:
            out.write(f'bind_to_address {quoted(path)}\nmax_connections "20000"\n')

    def check(self):
        """Complains if one of them has ended."""
        for process, name in ((self.reference, "mpd"), (self.candidate, "shelvmpd")):
            if process.poll() is not None:
                raise Failed(f"{name} ended with status {process.returncode}:\n{self.log()}")

    def log(self):
        return tail(os.path.join(self.folder, "log"))

    def close(self):
        stop(self.candidate)
        stop(self.reference)
        if self.server is not None:
            self.server.stop()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
