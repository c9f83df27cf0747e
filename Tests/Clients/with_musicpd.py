"""A client on python-musicpd. Prints what two servers with the same songs answer alike."""

import sys

import musicpd

SONG = "Queue/Ten/01 - Ten 01.ogg"


def main(host, port):
    client = musicpd.MPDClient()
    client.host, client.port = host, port
    client.connect()
    print(len(client.commands()) > 80, client.list("artist"))
    print(client.count("artist", "Queue Band")["songs"])
    client.command_list_ok_begin()
    client.clear()
    client.add("Queue/Ten")
    client.status()
    print([type(part).__name__ for part in client.command_list_end()])
    print([song["title"] for song in client.playlistinfo("2:5")])
    client.play(0)
    client.send_idle("player")
    client.noidle()
    client.pause()
    print(client.currentsong()["title"], client.playlistfind("title", "Ten 03")[0]["pos"])
    print(client.readpicture(SONG, 0))
    for refused in (lambda: client.albumart(SONG, 0), lambda: client.rm("nothing")):
        try:
            print("answered", refused())
        except musicpd.CommandError as error:
            print("refused", str(error).split("]")[0].split("@")[0])
    client.stop()
    client.disconnect()


main(*sys.argv[1:])
