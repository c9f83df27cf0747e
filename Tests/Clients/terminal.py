"""Walks with clients of the terminal."""

import os
import subprocess

from front import Unmet


class Terminal:
    """A program with a text screen, in a tmux of its own."""

    def __init__(self, front, *command, size=(110, 30)):
        self.front = front
        self.socket = front.path("tmux")
        self.environment = front.environment(TMUX="")
        # The server of tmux lives in the session of this child, and ends with it.
        front.start("tmux", "-S", self.socket, "-f", "/dev/null", "-D", TMUX="")
        front.until("tmux", lambda: os.path.exists(self.socket))
        self.tmux("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), *command)

    def tmux(self, *arguments):
        run = subprocess.run(["tmux", "-S", self.socket, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=self.environment, timeout=20)
        if run.returncode:
            raise Unmet(f"tmux {arguments[0]}: {run.stderr.strip()}")
        return run.stdout

    def press(self, *keys):
        """Presses keys by tmux's names."""
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def shows(self, *texts):
        """Waits until all these texts are on the screen."""
        seen = [""]

        def all_there():
            seen[0] = self.tmux("capture-pane", "-p")
            return all(text in seen[0] for text in texts)

        try:
            self.front.until(f"{texts} on the screen", all_there, 15)
        except Unmet as error:
            raise Unmet(f"{error}:\n{seen[0]}") from None


def ncmpcpp(front):
    """All screens; an album added and played; modes, seeking, volume; a playlist saved, edited and loaded; a search."""
    configuration = front.write("ncmpcpp.conf", f"""
mpd_host = {front.host}
mpd_port = {front.port}
ncmpcpp_directory = {front.home}
lyrics_directory = {front.home}
mpd_crossfade_time = 3
user_interface = classic
""")
    terminal = Terminal(front, "ncmpcpp", "-c", configuration, "-b", "/dev/null")
    terminal.shows("Playlist")

    # The media library: an artist's album is added and played.
    terminal.press("4")
    terminal.shows("Media library", "Artists", "Alpha Band", "Queue Band", "(1999) First Light")
    terminal.press("Right")
    terminal.press("Space")
    front.until_status(playlistlength="4")
    terminal.press("1")
    terminal.shows("Playlist (4 items", "Intro", "Long Tone")
    terminal.press("End", "Enter")
    front.until_status(state="play", song="3")
    terminal.shows("Alpha Band", "Long Tone")
    front.bring_about(lambda: terminal.press("p"), state="pause")
    terminal.press("f", "f")
    front.until_asked("seek")
    front.bring_about(lambda: terminal.press("p"), state="play")
    terminal.press("-", "-", "+")
    front.until_status(volume="98")
    for key, text, values in (("r", "Repeat mode is on", {"repeat": "1"}), ("z", "Random mode is on", {"random": "1"}),
                              ("y", "Single mode is on", {"single": "1"}), ("R", "Consume mode is on", {"consume": "1"}),
                              ("x", "Crossfade set to 3 seconds", {"xfade": "3"}), ("R", "Consume mode is off", {"consume": "0"}),
                              ("z", "Random mode is off", {"random": "0"}), ("r", "Repeat mode is off", {"repeat": "0"})):
        front.bring_about(lambda: terminal.press(key), **values)
        terminal.shows(text)
    terminal.press("<")
    front.until_status(song="2")
    terminal.press(">")
    front.until_status(song="3")
    terminal.press("Z")
    terminal.shows("shuffle")
    terminal.press("y")
    front.until_asked("shuffle")
    terminal.press("u")
    terminal.shows("Database update")

    # The browser: a folder is added.
    terminal.press("2")
    terminal.shows("Browse: /", "[Alpha Band]", "[Queue]")
    terminal.press("/")
    terminal.type("Gamma")
    terminal.press("Enter")
    terminal.press("Space")
    front.until_status(playlistlength="8")

    # The queue becomes a playlist, which the editor shows.
    terminal.press("1")
    terminal.shows("Playlist (8 items")
    terminal.press("S")
    terminal.shows("Save playlist as")
    terminal.type("evening")
    terminal.press("Enter")
    terminal.shows("evening")
    front.until("the playlist", lambda: "playlist: evening" in front.ask("listplaylists"))
    terminal.press("c")
    terminal.shows("clear")
    terminal.press("y")
    front.until_status(playlistlength="0")
    terminal.press("5")
    terminal.shows("Playlist editor", "evening", "Intro")
    terminal.press("Right", "Delete")
    front.until("an entry of the playlist to go", lambda: len(front.ask("listplaylist evening")) == 7)
    terminal.press("Left", "Space")
    front.until_status(playlistlength="7")

    # Searching.
    terminal.press("3")
    terminal.shows("Search engine", "Artist       : <empty>")
    terminal.press("Down", "Enter")
    terminal.type("Gapless")
    terminal.press("Enter")
    terminal.shows("Artist       : Gapless")
    terminal.press("End", "Up", "Enter")
    terminal.shows("Search results: Found 2 songs", "Gapless - Part 2")
    terminal.press("Space")
    front.until_status(playlistlength="8")

    # The tag editor reads folders, the outputs can be switched, and the clock asks nothing.
    terminal.press("6")
    terminal.shows("Tag editor")
    terminal.press("7")
    terminal.shows("Outputs", "Null")
    terminal.press("Enter")
    front.until_asked("disableoutput")
    # It turns on what it knows to be off, so it must have heard of that first.
    front.again_until(lambda: terminal.press("Enter"), lambda: front.proxy.asked("enableoutput"))
    terminal.press("=")
    terminal.press("1", "s")
    front.until_status(state="stop")
    terminal.press("q")


def ncmpc(front):
    """All screens; a folder added, played and seeked; modes, volume, a search, outputs, a message, a playlist saved."""
    terminal = Terminal(front, "ncmpc", "-h", front.host, "-p", str(front.port))
    terminal.shows("Queue")
    terminal.press("3")
    terminal.shows("[Alpha Band]", "[Queue]")
    terminal.press("/")
    terminal.type("Queue")
    terminal.press("Enter")
    terminal.press("a")
    front.until_status(playlistlength="13")
    terminal.press("2")
    terminal.shows("Queue Band - Ten 01", "Queue Band - Short 03")
    terminal.press("Enter")
    front.until_status(state="play", song="0")
    front.bring_about(lambda: terminal.press("P"), state="pause")
    for key, text, values in (("r", "Repeat mode is on", {"repeat": "1"}), ("z", "Random mode is on", {"random": "1"}),
                              ("y", "Single mode is on", {"single": "1"}), ("C", "Consume mode is on", {"consume": "1"}),
                              ("r", "Repeat mode is off", {"repeat": "0"}), ("z", "Random mode is off", {"random": "0"}),
                              ("C", "Consume mode is off", {"consume": "0"}), ("x", "Crossfade 10 seconds", {"xfade": "10"})):
        front.bring_about(lambda: terminal.press(key), **values)
        terminal.shows(text)
    terminal.press("-")
    terminal.shows("Volume 99%")
    terminal.press("-")
    terminal.shows("Volume 98%")
    terminal.press("+")
    front.until_status(volume="99")
    terminal.press(">")
    front.until_status(song="1")
    terminal.press("<")
    front.until_status(song="0")
    terminal.press("4")
    terminal.shows("Artists", "Alpha Band", "Gamma Trio")
    terminal.press("Enter")
    terminal.shows("Alpha Band - Intro")
    terminal.press("5")
    terminal.shows("New search")
    terminal.press("5")
    terminal.shows("Search:")
    terminal.type("love")
    terminal.press("Enter")
    terminal.shows("Alpha Band - Love")
    terminal.press("7")
    terminal.shows("No lyrics")
    terminal.press("8")
    terminal.shows("Null")
    terminal.press("9")
    terminal.shows("Chat")
    terminal.type("v")
    terminal.press("2")
    terminal.press("S")
    terminal.type("evening")
    terminal.press("Enter")
    front.until("the playlist", lambda: "playlist: evening" in front.ask("listplaylists"))
    terminal.press("c")
    front.until_status(playlistlength="0")
    terminal.press("s")
    terminal.press("q")
