"""Walks with command line programs."""

import re
import signal


def mpc(front):
    """Every sub-command of mpc 0.34."""

    def run(*arguments, status=0):
        """Runs a command and notes what it prints."""
        text = front.run("mpc", "-h", front.host, "-p", str(front.port), *arguments, expect=status)
        front.note("$ mpc " + " ".join(arguments), *text.splitlines())
        return text

    def quietly(*arguments, status=0):
        return run("-q", *arguments, status=status)

    run("version")
    for arguments in (["ls"], ["ls", "Queue"], ["ls", "Queue/Short"], ["listall"], ["listall", "Gamma Trio"], ["lsplaylists"],
                      ["list", "artist"], ["list", "album", "artist", "Queue Band"], ["list", "title", "album", "First Light"],
                      ["list", "genre"], ["list", "date"], ["find", "artist", "Queue Band"], ["find", "album", "Ten", "track", "3"],
                      ["search", "title", "love"], ["search", "artist", "ünïcödé"], ["search", "any", "box"],
                      ["search", "filename", "gapless"], ["search", '(Artist contains "band")'], ["find", '(Artist == "Deep")'],
                      ["-f", "%artist%|%album%|%track%|%disc%|%date%|%file%", "search", "album", "long box"]):
        run(*arguments)

    # The queue.
    quietly("add", "Queue/Ten")
    quietly("findadd", "album", "Short")
    quietly("searchadd", "title", "deep")
    run("playlist")
    quietly("add", "nowhere", status=1)
    quietly("del", "14")
    quietly("move", "13", "1")
    quietly("prio", "5", "3", "4")
    run("-f", "%position% %title% %prio%", "playlist")
    quietly("prio", "0", "3", "4")
    quietly("play", "2")
    front.until_status(state="play", song="1")
    quietly("pause")
    run("current")
    run("queued")
    quietly("pause-if-playing", status=None)
    quietly("insert", "Deep")
    run("playlist")
    quietly("toggle")
    quietly("next")
    front.until_status(state="play", song="2")
    quietly("pause-if-playing")
    quietly("seek", "50%")
    quietly("prev")
    front.until_status(song="1")
    quietly("seek", "10")
    quietly("seek", "+5")
    quietly("seek", "-3")
    quietly("seekthrough", "+4")
    quietly("cdprev")
    quietly("searchplay", "title", "Ten 03")
    run("add", "Queue/Short")
    quietly("save", "evening")
    run("lsplaylists")
    run("playlist", "evening")
    quietly("save", "evening", status=1)
    quietly("crop")
    run("playlist")
    quietly("load", "evening")
    quietly("--range=1:3", "load", "evening")
    quietly("load", "nothing", status=1)
    run("playlist")
    quietly("rm", "evening")
    quietly("rm", "evening", status=1)
    quietly("random", "on")
    quietly("prio", "7", "3")
    quietly("insert", "Deep")
    quietly("random", "off")
    quietly("shuffle")
    quietly("stop")
    quietly("clear")
    run("playlist")

    # What there is to be set.
    for name, values in (("repeat", ["on", "off", ""]), ("random", ["on", "off", ""]), ("single", ["on", "once", "off"]),
                         ("consume", ["on", "off", ""])):
        for value in values:
            run(name, *([value] if value else []))
    for name in ("repeat", "random", "consume"):
        quietly(name, "off")
    run("crossfade", "5")
    run("crossfade")
    run("crossfade", "0")
    run("mixrampdb", "-17")
    run("mixrampdb", "0")
    run("mixrampdelay", "2")
    run("mixrampdelay", "0")
    run("replaygain", "track")
    run("replaygain")
    run("replaygain", "off")
    run("volume", "40")
    run("volume", "+15")
    run("volume", "-5")
    run("volume")
    quietly("volume", "100")
    run("outputs")
    run("disable", "2")
    run("enable", "only", "2")
    run("toggleoutput", "1")
    run("enable", "2")
    quietly("outputset", "1", "nothing=1", status=1)
    run("clearerror")

    # The database.
    front.note(*[line.split()[0] for line in front.run("mpc", "stats").splitlines() if line])
    front.run("mpc", "-w", "update")
    front.run("mpc", "-w", "update", "Queue")
    front.run("mpc", "-w", "rescan")
    song = "Queue/Short/01 - Short 01.ogg"
    run("sticker", song, "set", "mood", "calm")
    run("sticker", song, "get", "mood")
    run("sticker", song, "list")
    run("sticker", "Queue", "find", "mood")
    run("sticker", song, "delete", "mood")
    run("sticker", song, "get", "mood", status=1)
    run("albumart", song, status=1)
    run("readpicture", song, status=None)

    # Waiting and talking.
    waiting = front.start("mpc", "idle", "options")
    front.until_asked('idle options')
    quietly("repeat", "on")
    quietly("repeat", "off")
    front.until("mpc idle to end", lambda: waiting.poll() is not None)
    looping = front.start("mpc", "idleloop", "mixer")
    front.until_asked('idle mixer')
    quietly("volume", "90")
    front.until("mpc idleloop to go on", lambda: len(front.proxy.asked('idle mixer')) == 2)
    quietly("volume", "100")
    looping.send_signal(signal.SIGTERM)
    hearing = front.start("mpc", "waitmessage", "room")
    front.until_asked("subscribe")
    front.until("the channel", lambda: front.ask("channels"))
    run("channels")
    run("sendmessage", "room", "hello there")
    front.until("mpc waitmessage to end", lambda: hearing.poll() is not None)
    subscribed = front.start("stdbuf", "-oL", "mpc", "subscribe", "room")
    front.until("the channel", lambda: front.ask("channels"))
    quietly("sendmessage", "room", "again")
    front.until("the message", lambda: "again" in front.read("log"))
    subscribed.send_signal(signal.SIGTERM)
    front.until("the channel to close", lambda: not front.ask("channels"))
    run("sendmessage", "room", "nobody", status=1)
    run("mount", status=None)
    run("listneighbors", status=1)
    run("mount", "here", "nfs://192.0.2.1/music", status=1)
    run("unmount", "nowhere", status=1)


# What of mpc's output is the server's own: its version, its mounts and neighbors, and how often a played song was heard.
def mpc_transcript(lines):
    """The transcript without what two servers may tell differently."""
    kept = []
    skipping = False
    for line in lines:
        if line.startswith("$ "):
            skipping = bool(re.match(r"\$ mpc (version|mount)", line))
            kept.append(line)
        elif not skipping:
            # How far a song was when it was stopped.
            kept.append(re.sub(r"\d:\d\d/", "N/", re.sub(r"\(\d+%\)", "(N%)", line)))
    return kept
