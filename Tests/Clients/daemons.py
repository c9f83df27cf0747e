"""Walks with programs that run behind a desktop."""


def play_ten(front):
    """Ten songs of 20 s in the queue, the third of which plays."""
    front.ask('add "Queue/Ten"', "play 2")
    front.until_status(state="play", song="2")


def mpdscribble(front):
    """Each song that was heard for half its length is a line in its file, in order; a love comes through a channel."""
    journal = front.path("plays")
    configuration = front.write("mpdscribble.conf", f"""
host = {front.host}
port = {front.port}
log = -
verbose = 2
[file]
file = {journal}
""")
    front.start("mpdscribble", "--no-daemon", "--conf", configuration)
    front.until("its channel", lambda: "channel: mpdscribble" in front.ask("channels"))
    song = 'add "Alpha Band/First Light/04 - Long Tone.flac"'
    front.ask(song, song, 'add "Queue/Short"', "play 0")
    front.until("the song to be noticed", lambda: front.read("log").count("new song detected") == 1)
    # It goes by its own clock: half of a song, and none that is shorter than 30 s.
    heard = 1 if front.is_patient else 0
    if heard:
        front.until("half of the song", lambda: float(front.status()["elapsed"]) > 15.5)
    front.ask("next")
    front.until("the next song to be noticed", lambda: front.read("log").count("new song detected") == 2)
    front.ask("stop", "sendmessage mpdscribble love")
    front.until_asked("readmessages")
    front.until("the plays", lambda: front.read("plays").count("Long Tone") == heard)


def mpDris2(front):
    """What a desktop shows and its media keys do: metadata, next, pause, position, shuffle, loop, volume."""
    play_ten(front)
    script = front.write("desktop.sh", """
mpDris2 2>"$HOME/log" &
bridge=$!
for attempt in $(seq 200); do playerctl -l 2>/dev/null | grep -q mpd && break; sleep 0.05; done
# What was asked takes a moment to come round.
until_is() {
    for attempt in $(seq 200); do
        [ "$(playerctl $2 2>/dev/null)" = "$1" ] && { echo "$2: $1"; return; }
        sleep 0.05
    done
    echo "$2: $(playerctl $2 2>&1), not $1"
}
until_is "Ten 03" "metadata title"
until_is "Queue Band" "metadata artist"
until_is "Ten" "metadata album"
playerctl next
until_is "Ten 04" "metadata title"
playerctl previous
until_is "Ten 03" "metadata title"
playerctl pause
until_is "Paused" "status"
playerctl position 5
until_is "5.000000" "position"
playerctl shuffle On
until_is "On" "shuffle"
playerctl loop Track
until_is "Track" "loop"
playerctl loop None
until_is "None" "loop"
playerctl volume 0.5
until_is "0.500000" "volume"
playerctl play
until_is "Playing" "status"
playerctl stop
until_is "Stopped" "status"
kill $bridge
""")
    lines = front.run("dbus-run-session", "--", "sh", script).splitlines()
    front.note(*lines)
    wrong = [line for line in lines if ", not " in line]
    front.expect("what the desktop shows", wrong, [])
    front.expect("the number of things shown", len(lines), 13)


def mpd_sima(front):
    """Adds songs when the queue runs out."""
    play_ten(front)
    configuration = front.write("sima.cfg", f"""
[MPD]
host = {front.host}
port = {front.port}
[sima]
internal = Random
history_duration = 0
queue_length = 2
[random]
flavour = pure
track_to_add = 2
""")
    front.start("mpd-sima", "-c", configuration, "--var-dir", front.home, "-v", "info")
    front.until_asked("idle")
    front.ask("play 9")
    front.until("more songs", lambda: int(front.status()["playlistlength"]) > 10)
