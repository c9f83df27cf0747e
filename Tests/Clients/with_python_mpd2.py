"""A client on python-mpd2. Prints what two servers with the same songs answer alike."""

import sys
import threading

import mpd

SONG = "Queue/Ten/01 - Ten 01.ogg"


def titles(songs):
    return [song.get("title", song.get("file")) for song in songs]


def main(host, port):
    client = mpd.MPDClient()
    client.timeout = 20
    client.connect(host, int(port))
    print("version", client.mpd_version > "0.20")
    print("commands", sorted({"add", "find", "list", "idle", "playlistinfo", "sticker", "readpicture"} - set(client.commands())))
    client.tagtypes("clear")
    client.tagtypes("enable", "Artist", "Album", "Title", "Track")
    for line in client.lsinfo("Queue/Short"):
        print(sorted((key, value) for key, value in line.items() if key in ("file", "artist", "album", "albumartist", "title", "track")))
    client.tagtypes("all")
    print(client.list("artist"))
    print(client.list("album", "artist", "Queue Band"))
    print(client.list("album", "group", "albumartist"))
    print(client.list("album", "albumartist", "Queue Band", "group", "date"))
    print(client.count("artist", "Queue Band")["songs"])
    print(titles(client.find("album", "Ten", "window", (2, 5))))
    print(titles(client.find('(album == "Ten")', "sort", "-title")))
    print(titles(client.search("any", "box")))
    print(sorted(client.listall("Gamma Trio")[1].items()))
    print(len(client.listallinfo()) > 20)
    print(sorted(set(client.stats()) & {"artists", "albums", "songs", "uptime", "playtime", "db_playtime", "db_update"}))
    print("comments", "title" in {key.lower() for key in client.readcomments(SONG)})

    client.clear()
    client.command_list_ok_begin()
    client.add("Queue/Ten")
    client.addid("Queue/Short/01 - Short 01.ogg", 1)
    client.findadd("artist", "Deep")
    print(len(client.command_list_end()))
    print(titles(client.playlistinfo()))
    print(titles(client.playlistinfo((0, 2))))
    client.move(0, 3)
    client.move((0, 2), 5)
    client.swap(0, 1)
    client.delete((8, 10))
    client.prio(7, (2, 4))
    client.addtagid(client.addid("http://192.0.2.1/radio.mp3"), "Title", "Radio")
    print(titles(client.playlistinfo()))
    print(titles(client.playlistfind("album", "Ten")), titles(client.playlistsearch("title", "deep")))
    print(len(client.plchanges(0)), len(client.plchangesposid(0)))
    print(client.playlistid()[0]["pos"])
    client.deleteid(client.playlistinfo(9)[0]["id"])
    client.rangeid(client.playlistinfo(1)[0]["id"], (1, 5))
    client.shuffle((0, 2))

    def listen():
        listener = mpd.MPDClient()
        listener.connect(host, int(port))
        print("events", listener.idle("options", "player"))
        listener.disconnect()

    thread = threading.Thread(target=listen)
    thread.start()
    while thread.is_alive():  # That the listener waits, no answer tells.
        client.repeat(1)
        client.repeat(0)
        thread.join(0.05)

    client.setvol(35)
    client.volume(5)
    client.crossfade(2)
    client.random(1)
    client.single("oneshot")
    client.consume(0)
    client.replay_gain_mode("album")
    status = client.status()
    print({key: status[key] for key in ("volume", "xfade", "random", "single", "consume", "playlistlength", "state")})
    print(client.replay_gain_status())
    client.random(0)
    client.single(0)
    client.play(0)
    client.seekcur(1)
    client.pause(1)
    client.pause()
    client.next()
    client.previous()
    client.stop()
    print(client.currentsong() != {})
    client.clearerror()
    print([(output["outputname"], output["outputenabled"]) for output in client.outputs()])
    client.disableoutput(1)
    client.toggleoutput(1)
    print(len(client.decoders()) > 0, "http://" in client.urlhandlers())

    client.clear()
    client.add("Queue/Short")
    client.save("evening")
    client.playlistadd("evening", SONG)
    client.playlistmove("evening", 3, 0)
    client.playlistdelete("evening", 1)
    client.rename("evening", "night")
    print([playlist["playlist"] for playlist in client.listplaylists()])
    print(client.listplaylist("night"), titles(client.listplaylistinfo("night")))
    client.load("night", (0, 2))
    client.playlistclear("night")
    client.rm("night")
    client.sticker_set("song", SONG, "mood", "calm")
    print(client.sticker_get("song", SONG, "mood"), client.sticker_list("song", SONG).get("mood"), client.sticker_find("song", "Queue", "mood"))
    client.sticker_delete("song", SONG, "mood")
    client.subscribe("here")
    client.sendmessage("here", "word")
    print(client.channels(), client.readmessages())
    client.unsubscribe("here")
    print(client.readpicture(SONG))
    for refused in (lambda: client.albumart(SONG), lambda: client.sticker_get("song", SONG, "mood"), lambda: client.load("nothing"),
                    lambda: client.add("nowhere"), lambda: client.deleteid(999999), lambda: client.config()):
        try:
            print("answered", refused())
        except mpd.CommandError as error:
            print("refused", error.errno, error.command)
    client.disconnect()


main(*sys.argv[1:])
