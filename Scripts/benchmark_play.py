"""How soon a song is heard after `play`, beside mpd and mpv, and how soon `status` is answered meanwhile: Scripts/benchmark's part `play`.

Supysonic serves songs of a minute each. ShelvMPD plays them from its library; mpd (with its curl input) and mpv get the addresses of
the same streams. ShelvMPD and mpd write to a FIFO, whose first byte counts; mpv says itself that it has begun. Each song is played
once by each, in turn, then once more by ShelvMPD, whose cache has it by then. Needs mpd, mpv, supysonic and ffmpeg.
"""

import json
import os
import select
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from server_pair import Failed, free_port, quoted, stop
from subsonic_server import SubsonicServer

KINDS = (("flac", []), ("mp3", ["-b:a", "256k"]), ("ogg", ["-c:a", "libvorbis", "-q:a", "6"]))


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.file.readline()

    def ask(self, command):
        self.socket.sendall(command.encode() + b"\n")
        lines = []
        while True:
            line = self.file.readline()
            if not line:
                raise Failed("the server has closed the connection")
            if line == b"OK\n" or line.startswith(b"ACK "):
                return lines if line == b"OK\n" else [line.decode()]
            lines.append(line.decode().rstrip("\n"))

    def pairs(self, command):
        return dict(line.split(": ", 1) for line in self.ask(command) if ": " in line)


class Pipe:
    """The reading end of a FIFO that an output writes to."""

    def __init__(self, path):
        self.path = path
        if not os.path.exists(path):
            os.mkfifo(path)
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def drain(self):
        while select.select([self.descriptor], [], [], 0.05)[0]:
            if not self.read():
                time.sleep(0.01)
                return

    def read(self):
        try:
            return os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return b""

    def first(self, began):
        """Milliseconds from `began` to the first byte."""
        while time.perf_counter() - began < 20:
            if self.read():
                return (time.perf_counter() - began) * 1000
            time.sleep(0.0002)
        raise Failed(f"nothing is heard at {self.path}")


def scheduled(thread):
    """Milliseconds that a thread has worked, and has waited for a processor; a thread that has ended has not."""
    try:
        with open(f"{thread}/schedstat", encoding="ascii") as file:
            return [int(field) / 1e6 for field in file.read().split()[:2]]
    except OSError:
        return [0, 0]


class PlayBench:
    def __init__(self, program, songs):
        self.program, self.count = program, songs
        self.folder = tempfile.mkdtemp(prefix="shelvmpd-play-")
        self.processes, self.server = [], None

    def close(self):
        for process in self.processes:
            stop(process)
        if self.server:
            self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def spawn(self, *command):
        log = open(os.path.join(self.folder, "log"), "ab")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.processes.append(process)
        return process

    def make_music(self):
        music = os.path.join(self.folder, "music", "Band", "Album")
        os.makedirs(music)
        for number in range(self.count):
            suffix, options = KINDS[number % len(KINDS)]
            path = os.path.join(music, f"{number:02} - Song {number}.{suffix}")
            noise = f"anoisesrc=d=60:seed={number}:color=pink:amplitude=0.3"
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", noise, "-ac", "2", "-ar", "44100", *options,
                            "-metadata", "artist=Band", "-metadata", "album=Album", "-metadata", f"title=Song {number}", path], check=True)
        # Short ones, for ends and changes, and some that will be gone.
        for name in ("short", "gone"):
            for number in range(8):
                path = os.path.join(music, f"{name} {number}.flac")
                subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"sine={300 + 50 * number}:d=1", "-ac", "2",
                                "-metadata", "artist=Band", "-metadata", f"album={name}", "-metadata", f"title={name} {number}", path], check=True)
        return os.path.join(self.folder, "music")

    def start(self):
        music = self.make_music()
        self.server = SubsonicServer(os.path.join(self.folder, "subsonic"), music)
        self.server.prepare()
        self.server.start()
        self.ours, self.theirs = free_port(), free_port()
        self.our_pipe, self.their_pipe = (Pipe(os.path.join(self.folder, name)) for name in ("ours", "theirs"))
        path = os.path.join(self.folder, "shelvmpd.conf")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f'''bind_to_address "127.0.0.1"
port "{self.ours}"
queue_mode "mpd"
prefetch_songs "0"
state_directory {quoted(self.folder + "/state")}
cache_directory {quoted(self.folder + "/cache")}
subsonic_server {{
    name "home"
    url "{self.server.url}"
    user "{self.server.user}"
    password "{self.server.password}"
}}
audio_output {{
    type "fifo"
    name "FIFO"
    path {quoted(self.folder + "/ours")}
    format "44100:16:2"
}}
''')
        os.chmod(path, 0o600)
        self.spawn(self.program, "--config", path)
        path = os.path.join(self.folder, "mpd.conf")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f'''bind_to_address "127.0.0.1"
port "{self.theirs}"
zeroconf_enabled "no"
input {{
    plugin "curl"
}}
audio_output {{
    type "fifo"
    name "FIFO"
    path {quoted(self.folder + "/theirs")}
    format "44100:16:2"
}}
''')
        self.spawn("mpd", "--no-daemon", path)
        control = os.path.join(self.folder, "mpv")
        self.spawn("mpv", "--no-config", "--idle", "--no-terminal", "--vid=no", "--ao=null", f"--input-ipc-server={control}")
        self.our_client, self.their_client = self.connect(self.ours), self.connect(self.theirs)
        deadline = time.time() + 60
        while int(self.our_client.pairs("stats").get("songs", 0)) < self.count + 16 or "updating_db" in self.our_client.pairs("status"):
            if time.time() > deadline:
                raise Failed("the library is not there")
            time.sleep(0.1)
        while not os.path.exists(control):
            time.sleep(0.01)
        self.mpv = socket.socket(socket.AF_UNIX)
        self.mpv.connect(control)
        self.mpv_file = self.mpv.makefile("rb")

    @staticmethod
    def connect(port):
        for _ in range(600):
            try:
                return Client(port)
            except OSError:
                time.sleep(0.05)
        raise Failed(f"nobody answers at port {port}")

    def streams(self):
        """The address of each song's stream, by title."""
        import urllib.parse
        import urllib.request
        login = {"u": self.server.user, "p": self.server.password, "v": "1.12.0", "c": "benchmark"}
        query = urllib.parse.urlencode({**login, "f": "json", "query": "Song", "songCount": 1000})
        with urllib.request.urlopen(f"{self.server.url}/rest/search3.view?{query}") as reply:
            songs = json.load(reply)["subsonic-response"]["searchResult3"]["song"]
        return {song["title"]: f"{self.server.url}/rest/stream.view?" + urllib.parse.urlencode({**login, "id": song["id"]}) for song in songs}

    # MARK: Figures

    def play_ours(self, uri):
        self.our_client.ask("clear")
        self.our_pipe.drain()
        self.our_client.ask(f'add "{uri}"')
        began = time.perf_counter()
        self.our_client.ask("play")
        return self.our_pipe.first(began)

    def play_theirs(self, url):
        self.their_client.ask("clear")
        self.their_pipe.drain()
        self.their_client.ask(f'add "{url}"')
        began = time.perf_counter()
        self.their_client.ask("play")
        return self.their_pipe.first(began)

    def play_mpv(self, url):
        began = time.perf_counter()
        self.mpv.sendall(json.dumps({"command": ["loadfile", url]}).encode() + b"\n")
        while True:
            if json.loads(self.mpv_file.readline()).get("event") == "playback-restart":
                return (time.perf_counter() - began) * 1000

    def first_sound(self):
        streams, times = self.streams(), {"mpd": [], "mpv": [], "ours": [], "cached": []}
        files = {line[6:].rsplit(" - ", 1)[-1].rsplit(".", 1)[0]: line[6:] for line in self.our_client.ask("listall") if line.startswith("file: ")}
        for title in sorted(streams):
            # Whoever comes first finds the file cold in the machine's memory: nobody does.
            subprocess.run(["cat", os.path.join(self.folder, "music", files[title])], stdout=subprocess.DEVNULL, check=True)
            times["ours"].append(self.play_ours(files[title]))
            times["mpd"].append(self.play_theirs(streams[title]))
            self.their_client.ask("stop")
            times["mpv"].append(self.play_mpv(streams[title]))
            self.mpv.sendall(b'{"command": ["stop"]}\n')
            self.wait_whole()
            self.our_client.ask("stop")
            time.sleep(0.1)
            times["cached"].append(self.play_ours(files[title]))
        ours = statistics.median(times["ours"])
        names = (("mpd", "mpd, the same stream"), ("mpv", "mpv, the same stream"), ("ours", "ShelvMPD"), ("cached", "ShelvMPD, in the cache"))
        rows = []
        for key, name in names:
            median = statistics.median(times[key])
            rows.append([name, f"{median:.1f}", f"{max(times[key]):.1f}", f"{median / ours:.2f}"])
        return rows

    def wait_whole(self):
        """Waits until the cache has what plays."""
        folder = os.path.join(self.folder, "cache", "audio")
        deadline = time.time() + 20
        while any(name.endswith(".part") for name in os.listdir(folder)):
            if time.time() > deadline:
                raise Failed("a song does not become whole")
            time.sleep(0.01)

    def ask_meanwhile(self, act):
        """Median, 99th percentile and maximum of `status` in ms, asked each millisecond while `act` runs.

        Then the 99th percentile without the time that the asking thread and the core have waited for a processor."""
        times, own, ends = [], [], threading.Event()

        def watch():
            client, threads = self.connect(self.ours), (self.core, f"/proc/self/task/{threading.get_native_id()}")
            while not ends.is_set():
                waited = sum(scheduled(thread)[1] for thread in threads)
                began = time.perf_counter()
                client.ask("status")
                times.append((time.perf_counter() - began) * 1000)
                own.append(max(0, times[-1] - sum(scheduled(thread)[1] for thread in threads) + waited))
                time.sleep(0.001)

        thread = threading.Thread(target=watch)
        thread.start()
        act()
        ends.set()
        thread.join()
        times.sort()
        own.sort()
        return [f"{statistics.median(times):.3f}", f"{times[int(len(times) * 0.99)]:.3f}", f"{times[-1]:.3f}", f"{own[int(len(own) * 0.99)]:.3f}",
                f"{len(times):,}"]

    def busiest(self, act):
        """The folder in /proc of the thread of ShelvMPD that works most while `act` runs."""
        folder = f"/proc/{self.processes[0].pid}/task"
        before = {f"{folder}/{name}": scheduled(f"{folder}/{name}")[0] for name in os.listdir(folder)}
        act()
        return max(before, key=lambda thread: scheduled(thread)[0] - before[thread])

    def queue(self, name):
        self.our_client.ask("clear")
        self.our_client.ask(f'findadd album "{name}"')
        self.our_client.ask("play 0")

    def status(self):
        def opens():
            for _ in range(60):
                self.our_client.ask("next")
                time.sleep(0.05)

        client = self.our_client
        client.ask("stop")
        self.core = self.busiest(lambda: [client.ask("status") for _ in range(2000)])
        rows = [["stopped"] + self.ask_meanwhile(lambda: time.sleep(3))]
        self.queue("Album")
        rows.append(["playing"] + self.ask_meanwhile(lambda: time.sleep(3)))
        client.ask("repeat 1")
        self.queue("short")
        rows.append(["songs of a second end"] + self.ask_meanwhile(lambda: time.sleep(10)))
        self.queue("Album")
        rows.append(["`next` twenty times a second"] + self.ask_meanwhile(opens))
        for number in range(8):
            os.unlink(os.path.join(self.folder, "music", "Band", "Album", f"gone {number}.flac"))
        self.queue("gone")
        rows.append(["songs that are gone"] + self.ask_meanwhile(lambda: time.sleep(5)))
        client.ask("stop")
        return rows

    def run(self):
        """Title, head and rows of each table."""
        self.start()
        return [
            ("Until a song is heard", ["", "median, ms", "slowest", "median / ShelvMPD"], self.first_sound()),
            ("`status` while songs play, end, open and fail", ["", "median, ms", "p99 (wanted: below 2)", "slowest", "p99 without waiting for a processor", "asked"],
             self.status()),
        ]
