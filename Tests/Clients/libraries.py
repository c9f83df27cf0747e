"""Walks with programs that use a library: the library is the client."""

import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


def python(front, script):
    """Runs a program of this folder with Debian's Python, which has Debian's libraries, and keeps what it prints."""
    front.note(*front.run("/usr/bin/python3", "-B", os.path.join(FOLDER, script), front.host, str(front.port)).splitlines())


def python_mpd2(front):
    """Commands of every kind by python-mpd2, which parses all answers; pictures, lists, idle, a queue edited."""
    python(front, "with_python_mpd2.py")


def home_assistant(front):
    """The sequence of Home Assistant: asyncio, a listener that idles by itself, ten polls, media keys, a playlist."""
    python(front, "with_asyncio.py")


def musicpd(front):
    """The same kinds of commands by python-musicpd."""
    python(front, "with_musicpd.py")
