"""All walks, in the order of their running."""

import command_line
import daemons
import desktop
import libraries
import phones
import terminal


class Walk:
    """What a client is made to do, and what it takes."""

    def __init__(self, go, package, programs=None, needs_screen=False, compares=False, clean=None, allowed=(), is_long=False):
        self.go = go
        self.name = go.__name__.removeprefix("walk_")
        self.package = package
        self.programs = programs or [package]
        self.needs_screen = needs_screen
        self.compares = compares
        self.clean = clean
        self.is_long = is_long  # and so is left out without --patient
        self.allowed = allowed  # pairs of a kind of refusal, * for all, and the reason why MPD may not refuse it

    def cleaned(self, transcript):
        return self.clean(transcript) if self.clean else transcript

    def allows(self, kind):
        return any(allowed in (kind, "*") for allowed, _ in self.allowed)


# What a graphical client needs beside itself.
SCREEN = ["Xvfb", "matchbox-window-manager", "xdotool", "dbus-run-session"]

WALKS = [
    Walk(command_line.mpc, "mpc", compares=True, clean=command_line.mpc_transcript,
         allowed=[("[2] {mount}", "Subsonic servers are mounted, nothing else")]),
    Walk(terminal.ncmpcpp, "ncmpcpp", ["ncmpcpp", "tmux"]),
    Walk(terminal.ncmpc, "ncmpc", ["ncmpc", "tmux"]),
    Walk(desktop.cantata, "cantata", ["cantata", *SCREEN], needs_screen=True),
    Walk(desktop.ario, "ario", ["ario", *SCREEN], needs_screen=True),
    Walk(desktop.sonata, "sonata", ["sonata", *SCREEN], needs_screen=True),
    Walk(desktop.ymuse, "ymuse", ["ymuse", *SCREEN], needs_screen=True),
    Walk(daemons.mpdscribble, "mpdscribble"),
    Walk(daemons.mpDris2, "mpdris2", ["mpDris2", "playerctl", "dbus-run-session"], compares=True),
    Walk(daemons.mpd_sima, "mpd-sima", ["mpd-sima"]),
    Walk(libraries.python_mpd2, "python3-mpd", ["/usr/bin/python3"], compares=True),
    Walk(libraries.home_assistant, "python3-mpd", ["/usr/bin/python3"], compares=True),
    Walk(libraries.musicpd, "python3-musicpd", ["/usr/bin/python3"], compares=True),
    Walk(phones.phones, "mpd", ["mpd"], is_long=True, allowed=[("*", "all of them edit one queue, so chance decides")]),
]
