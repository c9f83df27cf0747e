"""Stands between a client and a server of MPD's protocol, and writes down what is asked and what is refused."""

import re
import socket
import threading
import time


class Refusal:
    """An ACK line."""

    def __init__(self, line):
        self.line = line

    @property
    def kind(self):
        """What must be the same for a refusal to be the same: code and command. The words differ between versions of MPD,
        but for a command that is unknown they alone tell which it is."""
        match = re.match(r"ACK \[(\d+)@\d+\] \{(.*?)\} (.*)", self.line)
        if not match:
            return self.line
        return f"[{match[1]}] {{{match[2]}}}" + ("" if match[2] else " " + match[3])


class LoggingProxy:
    """Passes everything on to a port of loopback."""

    def __init__(self, server):
        self.server = server
        self.lock = threading.Lock()
        self.requests = []  # lines of clients, in order
        self.refusals = []  # of Refusal, in order
        self.latency = 0  # seconds that every piece of data is on its way
        self.sockets = []
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def asked(self, beginning):
        """The requests that begin with a text."""
        with self.lock:
            return [line for line in self.requests if line.startswith(beginning)]

    def close(self):
        """Ends all connections."""
        with self.lock:
            sockets, self.sockets = self.sockets, []
        for end in (self.listener, *sockets):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server), 10)
            except OSError:
                return
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.sockets += [client, server]
            threading.Thread(target=self.move, args=(client, server, self.request), daemon=True).start()
            threading.Thread(target=self.move, args=(server, client, self.answer), daemon=True).start()

    def request(self, line):
        with self.lock:
            self.requests.append(line)

    def answer(self, line):
        if line.startswith("ACK "):
            with self.lock:
                self.refusals.append(Refusal(line))

    def move(self, source, sink, tell):
        """Copies bytes until one side ends, telling each line before it is passed on."""
        rest = b""
        while True:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                tell(line.decode("utf-8", "replace"))
            rest = rest[:4096]
            try:
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                if self.latency:
                    time.sleep(self.latency / 2)
                sink.sendall(data)
            except OSError:
                return
