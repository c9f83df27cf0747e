"""A media player as in a home automation, on python-mpd2's asyncio client: what it polls, and what people press."""

import asyncio
import sys

import mpd
from mpd.asyncio import MPDClient


async def poll(client, commands):
    """One round of polling; what was read of it."""
    status = await client.status()
    song = await client.currentsong()
    for key in ("volume", "repeat", "random", "playlistlength", "song", "songid"):
        if key in status:
            int(status[key])
    for key in ("elapsed", "duration"):
        if key in status:
            float(status[key])
    if "file" in song:
        picture = await client.readpicture(song["file"]) if "readpicture" in commands else {}
        if not picture and "albumart" in commands:
            try:
                await client.albumart(song["file"])
            except mpd.CommandError as error:
                assert error.errno == mpd.FailureResponseCode.NO_EXIST, error
    return status, song


async def until(client, **wanted):
    for _ in range(500):
        status = await client.status()
        if all(status.get(key) == value for key, value in wanted.items()):
            return
        await asyncio.sleep(0.02)
    raise SystemExit(f"not {wanted}: {status}")


async def listen(client, seen):
    async for subsystems in client.idle():
        seen.update(subsystems)


async def main(host, port):
    client = MPDClient()
    await client.connect(host, int(port))
    commands = list(await client.commands())
    print({"status", "currentsong", "setvol", "seekcur", "listplaylists", "readpicture", "albumart"} - set(commands))
    seen = set()
    listener = asyncio.ensure_future(listen(client, seen))
    print([playlist["playlist"] for playlist in await client.listplaylists()])
    await client.clear()
    await client.add("Queue/Ten")
    await client.save("evening")
    print([playlist["playlist"] for playlist in await client.listplaylists()])
    await client.clear()
    await client.load("evening")
    await client.play()
    await until(client, state="play", song="0")
    for _ in range(10):
        status, song = await poll(client, commands)
        print(status["state"], song["title"])
    for command, argument, wanted in (
            (client.setvol, 35, {"volume": "35"}), (client.pause, 1, {"state": "pause"}), (client.pause, 0, {"state": "play"}),
            (client.repeat, 1, {"repeat": "1"}), (client.random, 1, {"random": "1"}), (client.random, 0, {"random": "0"}),
            (client.single, 1, {"single": "1"}), (client.single, 0, {"single": "0"}), (client.repeat, 0, {"repeat": "0"})):
        await command(argument)
        await until(client, **wanted)
    await client.next()
    await until(client, song="1")
    await client.previous()
    await until(client, song="0")
    await client.seekcur(5)
    status, _ = await poll(client, commands)
    print(float(status["elapsed"]) >= 4.9)
    await client.stop()
    await until(client, state="stop")
    await client.rm("evening")
    for _ in range(500):
        if {"playlist", "player", "mixer", "options", "stored_playlist"} <= seen:
            break
        await asyncio.sleep(0.02)
    print(sorted(seen & {"playlist", "player", "mixer", "options", "stored_playlist"}))
    listener.cancel()
    client.disconnect()


asyncio.run(main(*sys.argv[1:]))
