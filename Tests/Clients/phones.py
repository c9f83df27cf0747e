"""Walks of phones: far away, and asleep now and then."""

import os
import socket
import threading
import time

from front import Unmet

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Fixtures", "scenarios")
PHONES = ("malp", "mpdroid", "maximummpd", "swmpc", "rigelian")


def requests(phone):
    """The lines that a phone's scenario sends on its own, without those that need an id of the moment."""
    inside = False
    for line in open(os.path.join(SCENARIOS, f"client-{phone}.txt"), encoding="utf-8").read().splitlines():
        if line and line[0] not in "@#" and "${" not in line:
            inside = inside or line.startswith("command_list_")
            inside = inside and line != "command_list_end"
            yield line, inside


def walk(front, phone, wrong):
    """Sends one line after the other, as far away as the proxy is, and reads each reply to its end."""
    try:
        with socket.create_connection((front.host, front.port), 30) as connection:
            lines = connection.makefile("rb")
            lines.readline()
            for line, continues in requests(phone):
                connection.sendall(line.encode() + b"\n")
                while not continues:
                    reply = lines.readline()
                    if not reply:
                        raise Unmet(f"{phone}: the connection was closed after {line!r}")
                    if reply.startswith(b"binary: "):
                        lines.read(int(reply[8:]) + 1)
                    if reply == b"OK\n" or reply.startswith(b"ACK "):
                        break
    except (Unmet, OSError) as error:
        wrong.append(f"{phone}: {error}")


def sleep(front, wrong, seconds):
    """Asks for the whole library many times, reads nothing for a while, and then all of it: none may be missing."""
    try:
        with socket.create_connection((front.host, front.port), 60) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            lines = connection.makefile("rb")
            lines.readline()
            connection.sendall(b"listallinfo\n" * 100)
            time.sleep(seconds)
            songs = answers = 0
            while answers < 100:
                line = lines.readline()
                if not line:
                    raise Unmet(f"a sleeper was cut off after {answers} answers")
                songs += line.startswith(b"file: ")
                answers += line == b"OK\n"
            known = int(front.pairs("stats")["songs"])
            if songs != 100 * known:
                raise Unmet(f"a sleeper got {songs} songs instead of {100 * known}")
    except (Unmet, OSError) as error:
        wrong.append(str(error))


def phones(front):
    """Five phones at once, 0.2 s away, with what is known that they ask; one more sleeps before it reads."""
    front.proxy.latency = 0.2
    wrong = []
    threads = [threading.Thread(target=walk, args=(front, phone, wrong)) for phone in PHONES]
    threads.append(threading.Thread(target=sleep, args=(front, wrong, 10)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise Unmet("; ".join(wrong))
