"""Walks with graphical clients, on a screen of their own, on which every window takes all the room."""

import os
import subprocess

from screen import SIZE


class Window:
    """The window of a program, which fills the screen; its mouse and its keys."""

    def __init__(self, front, *command, name):
        self.front = front
        front.start("dbus-run-session", "--", *command)

        def fills_the_screen():
            # The number may be gone again when the second one asks.
            text = self.call("search", "--onlyvisible", "--name", name, "getwindowgeometry", "--shell", check=False)
            return f"WIDTH={SIZE[0]}\nHEIGHT={SIZE[1]}\n" in text

        front.until(f"a window {name!r}", fills_the_screen, 20)

    def await_dialog(self, name):
        """Waits until another window of the program has the keys."""
        self.front.until(f"a window {name!r}", lambda: name in self.call("getwindowfocus", "getwindowname", check=False), 10)

    def call(self, *arguments, check=True):
        run = subprocess.run(["xdotool", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=self.front.environment(), timeout=20)
        if check and run.returncode:
            raise OSError(f"xdotool {arguments}: {run.stderr}")
        return run.stdout

    def click(self, x, y, times=1, button=1):
        self.call("mousemove", str(x), str(y), "click", "--repeat", str(times), "--delay", "60", str(button))

    def press(self, *keys):
        self.call("key", "--delay", "30", *keys)

    def type(self, text):
        self.call("type", "--delay", "15", text)

    def picture(self, name):
        """Keeps what is on the screen, where that is wanted."""
        if self.front.pictures:
            os.makedirs(self.front.pictures, exist_ok=True)
            subprocess.run(["import", "-window", "root", os.path.join(self.front.pictures, f"{self.front.name}-{name}.png")],
                           check=True, env=self.front.environment(), timeout=30)


def cantata_configuration(front):
    """A file with which Cantata does not ask anything at its first start."""
    return f"""[General]
version=2.5.0
firstRun=false
page=LibraryPage
[Connection]
host={front.host}
port={front.port}
passwd=
dir=
"""


def cantata(front):
    """Reads the library folder by folder; an artist added, played, paused, rated; modes; a search; a playlist saved."""
    front.write(".config/cantata/cantata.conf", cantata_configuration(front))
    window = Window(front, "cantata", name="Cantata")
    front.until_asked('lsinfo "Queue/Ten"')
    front.until_asked("listplaylists")
    row = 251  # of Queue Band

    def add():
        window.click(200, row)
        window.click(342, 670)

    front.again_until(add, lambda: front.status()["playlistlength"] != "0")
    front.until_status(playlistlength="13")
    front.bring_about(lambda: window.click(600, 140, times=2), state="play")
    front.until_status(song="2")
    front.again_until(lambda: window.press("alt+4"), lambda: front.proxy.asked("sticker set"))
    front.bring_about(lambda: window.click(55, 29), state="pause")
    window.click(90, 29)
    front.until_status(song="3")
    window.picture("queue")
    for x, name in ((758, "repeat"), (783, "single"), (808, "random"), (833, "consume")):
        front.bring_about(lambda: window.click(x, 670), **{name: "1"})
        front.bring_about(lambda: window.click(x, 670), **{name: "0"})
    window.click(30, 170)
    window.picture("folders")
    window.click(30, 445)
    window.picture("search")
    window.type("deep")
    front.until_asked("search")
    window.click(895, 670)
    window.await_dialog("Playlist")
    front.again_until(lambda: (window.press("ctrl+a"), window.type("evening"), window.press("Return")),
                       lambda: "playlist: evening" in front.ask("listplaylists"))
    window.click(30, 240)
    window.picture("playlists")


def ario(front):
    """Artists, albums and songs; an artist added and played; back, modes, stop; all tabs."""
    front.write(".config/ario/options.xml", """<?xml version="1.0"?>
<ario-options>
  <option key="first_time_flag">1</option>
  <option key="window_maximized">0</option>
</ario-options>
""")
    front.write(".config/ario/profiles/profiles.xml", f"""<?xml version="1.0"?>
<ario-profiles>
  <profile host="{front.host}" port="{front.port}" timeout="5000" current="true" type="0">Default</profile>
</ario-profiles>
""")
    window = Window(front, "ario", name="^Ario")
    front.until_asked('find Artist "Alpha Band"')
    window.picture("start")
    front.again_until(lambda: window.click(90, 152, times=2), lambda: front.status()["playlistlength"] != "0")
    front.until_status(playlistlength="4")
    front.bring_about(lambda: window.click(300, 588, times=2), state="play")
    front.until_status(song="3")
    window.click(27, 50)
    front.until_status(song="2")
    window.picture("queue")
    for x, wanted in ((779, "consume"), (828, "random"), (877, "repeat")):
        front.bring_about(lambda: window.click(x, 50), **{wanted: "1"})
        front.bring_about(lambda: window.click(x, 50), **{wanted: "0"})
    front.bring_about(lambda: window.click(125, 50), state="stop")
    for x in (168, 288, 405, 540):
        window.click(x, 95)
    window.picture("files")


def sonata(front):
    """The queue, the library and playlists; a folder added and played; the next song, pause."""
    front.write(".config/sonata/sonatarc", f"""[connection]
auto = True
profile_num = 0
[profiles]
num_profiles = 1
names[0] = Test
hosts[0] = {front.host}
ports[0] = {front.port}
passwords[0] =
musicdirs[0] = ~/music
[player]
initial_run = False
w = 700
h = 600
covers_pref = 0
lyrics = False
trayicon = False
""")
    window = Window(front, "sonata", name="Sonata")
    front.until_asked("plchanges")
    front.until_asked("lsinfo")

    def add():
        window.press("alt+2")
        window.click(60, 329)
        window.press("ctrl+d")

    front.again_until(add, lambda: front.status()["playlistlength"] != "0")
    front.bring_about(lambda: (window.press("alt+1"), window.click(200, 237, times=2)), state="play")
    window.picture("queue")
    front.until_status(song="3")
    window.click(262, 24)
    front.until_status(song="4")
    front.bring_about(lambda: window.click(166, 24), state="pause")
    window.press("alt+3")
    front.until_asked("listplaylists")


def ymuse(front):
    """The queue and the files; a folder added and played; modes."""
    window = Window(front, "ymuse", name="Ymuse")
    front.until_asked("playlistinfo")
    front.again_until(lambda: (window.click(475, 30), window.click(250, 115, times=2)), lambda: front.proxy.asked("lsinfo"))
    window.picture("files")
    front.again_until(lambda: window.click(40, 148), lambda: front.status()["playlistlength"] != "0")
    front.until_status(playlistlength="4")
    window.click(354, 30)
    front.bring_about(lambda: window.click(115, 643), state="play")
    window.picture("queue")
    for x, name in ((216, "random"), (258, "repeat"), (301, "consume")):
        front.bring_about(lambda: window.click(x, 643), **{name: "1"})
        front.bring_about(lambda: window.click(x, 643), **{name: "0"})
