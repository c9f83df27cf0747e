"""A Subsonic server without music: a catalog of any size that is drawn from a seed, for measurements.

    python3 Scripts/catalog_server.py --songs 100000 [--port PORT] [--delay MILLISECONDS]

It answers what a sync asks for, in the fields of an OpenSubsonic server. Pages are made once and kept, up to 200,000 songs,
so that the time of a sync is that of the client; `--delay` makes each page of a search take longer, as it does where
songs are looked up or far away. Any user and password will do.
"""

import argparse
import hashlib
import json
import random
import socket
import socketserver
import threading
import time
import urllib.parse

WORDS = """amber anchor arrow ash autumn beacon bird blue bridge candle cellar chance cloud copper corner crane dance dawn
distance dream dust echo ember engine evening falcon feather fire flood flower forest garden ghost glass gold gravel
harbor heart hill hollow home horizon ice iron island ivory juniper kite ladder lantern leaf light lion long love machine
marble meadow mirror moon morning mountain night north ocean orange orchard paper pearl pilot planet quiet radio rain
red ribbon river road rose sand sea shadow silver sister sky sleep smoke snow song south spring star stone storm street
summer sun thunder tide time tower train valley velvet violet voice water wave west white wind window winter wolf wood""".split()
GENRES = "Ambient,Blues,Chamber Music,Country,Electronic,Folk,Funk,Hip-Hop,Jazz,Latin,Metal,Pop,Punk,Reggae,Rock,Soul,Tango".split(",")
SONGS_OF_AN_ALBUM, ALBUMS_OF_AN_ARTIST = 10, 5
KEPT_UP_TO = 200_000


def identifier(kind, number):
    """Ids of 32 hexadecimal digits, as servers have them."""
    return hashlib.md5(f"{kind} {number}".encode()).hexdigest()


class Catalog:
    """Artists of five albums of ten songs each; the same number gives the same song, whatever the size."""

    def __init__(self, songs):
        self.songs = songs
        self.albums = -(-songs // SONGS_OF_AN_ALBUM)
        self.artists = -(-self.albums // ALBUMS_OF_AN_ARTIST)
        self.pages = {}
        self.targets = []
        self.lock = threading.Lock()

    def name(self, kind, number, words):
        draw = random.Random(f"{kind} {number}")
        return " ".join(draw.choice(WORDS).capitalize() for _ in range(words))

    def artist_name(self, number):
        return f"{self.name('artist', number, 2)} {number}"

    def artist(self, number):
        return {"id": identifier("artist", number), "name": self.artist_name(number), "albumCount": ALBUMS_OF_AN_ARTIST}

    def album(self, number):
        artist = number // ALBUMS_OF_AN_ARTIST
        draw = random.Random(f"facts {number}")
        year, genre = draw.randint(1955, 2025), draw.choice(GENRES)
        return {
            "id": identifier("album", number), "name": self.name("album", number, 3), "artist": self.artist_name(artist),
            "artistId": identifier("artist", artist), "artists": [self.reference(artist)], "year": year, "genre": genre,
            "genres": [{"name": genre}], "songCount": SONGS_OF_AN_ALBUM, "duration": 2400, "coverArt": "al-" + identifier("album", number),
            "created": "2023-05-06T07:08:09Z", "musicBrainzId": identifier("release", number)}

    def reference(self, artist):
        return {"id": identifier("artist", artist), "name": self.artist_name(artist)}

    def song(self, number):
        album = self.album(number // SONGS_OF_AN_ALBUM)
        track, draw = number % SONGS_OF_AN_ALBUM + 1, random.Random(number)
        title = self.name("song", number, draw.randint(1, 4))
        return {
            "id": identifier("song", number), "parent": album["id"], "isDir": False, "title": title, "album": album["name"],
            "artist": album["artist"], "track": track, "year": album["year"], "genre": album["genre"], "coverArt": album["coverArt"],
            "size": draw.randint(3_000_000, 40_000_000), "contentType": "audio/flac", "suffix": "flac",
            "duration": draw.randint(90, 600), "bitRate": 900, "samplingRate": 44100, "bitDepth": 16, "channelCount": 2,
            "path": f"{album['artist']}/{album['name']} ({album['year']})/{track:02} - {title}.flac", "discNumber": 1,
            "created": album["created"], "albumId": album["id"], "artistId": album["artistId"], "type": "music", "isVideo": False,
            "mediaType": "song", "musicBrainzId": identifier("recording", number), "artists": album["artists"],
            "displayArtist": album["artist"], "albumArtists": album["artists"], "displayAlbumArtist": album["artist"],
            "genres": album["genres"], "userRating": number % 5 + 1,
            "replayGain": {"trackGain": -6.5, "albumGain": -6.1, "trackPeak": 0.98, "albumPeak": 0.99}}

    def page(self, kind, offset, count):
        """The JSON of a page of `songs`, `albums` or `artists`."""
        total = {"song": self.songs, "album": self.albums, "artist": self.artists}[kind]
        offset, end = min(offset, total), min(offset + count, total)
        key = (kind, offset, end)
        page = self.pages.get(key)
        if page is None:
            make = getattr(self, kind)
            page = json.dumps([make(number) for number in range(offset, end)], separators=(",", ":")).encode()
            if self.songs <= KEPT_UP_TO:
                with self.lock:
                    self.pages[key] = page
        return page

    def prepare(self, size=500):
        """Makes the pages that a sync asks for."""
        if self.songs > KEPT_UP_TO:
            return
        for kind, total in (("song", self.songs), ("album", self.albums)):
            for offset in range(0, total, size):
                self.page(kind, offset, size)

    def answer(self, method, query):
        """What stands inside of the reply, as bytes; None for a method that is not there."""
        number = lambda key, default: int(query.get(key, [default])[0])  # noqa: E731
        if method == "ping":
            return b""
        if method == "getOpenSubsonicExtensions":
            return b'"openSubsonicExtensions":[{"name":"formPost","versions":[1]}]'
        if method == "getUser":
            return b'"user":{"username":"demo","adminRole":true,"scrobblingEnabled":true,"folder":[1]}'
        if method == "getMusicFolders":
            return b'"musicFolders":{"musicFolder":[{"id":1,"name":"Music"}]}'
        if method == "getScanStatus":
            return b'"scanStatus":{"scanning":false,"count":%d,"lastScan":"2024-01-02T03:04:05Z"}' % self.songs
        if method == "search3":
            parts = []
            for kind in ("artist", "album", "song"):
                count = number(kind + "Count", 20)
                if count:
                    parts.append(b'"%s":' % kind.encode() + self.page(kind, number(kind + "Offset", 0), count))
            return b'"searchResult3":{' + b",".join(parts) + b"}"
        if method == "getAlbumList2":
            size, offset = min(number("size", 10), 500), number("offset", 0)
            return b'"albumList2":{"album":' + self.page("album", offset, size) + b"}"
        if method in ("getArtists", "getIndexes"):
            key = method[3:].lower()
            return b'"%s":{"lastModified":1704164645000,"ignoredArticles":"","index":[{"name":"#","artist":' % key.encode() \
                + self.page("artist", 0, self.artists) + b"}]}"
        if method in ("getStarred2", "getPlaylists", "getGenres"):
            return b'"%s":{}' % {"getStarred2": b"starred2", "getPlaylists": b"playlists", "getGenres": b"genres"}[method]
        return None


class Handler(socketserver.StreamRequestHandler):
    """HTTP/1.1 with connections that stay; as little as a client needs."""

    disable_nagle_algorithm = True

    def handle(self):
        while True:
            line = self.rfile.readline(65536)
            if not line.strip():
                return
            length = 0
            while True:
                header = self.rfile.readline(65536)
                if header in (b"\r\n", b"\n", b""):
                    break
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            body = self.rfile.read(length).decode() if length else ""
            target = urllib.parse.urlsplit(line.split()[1].decode())
            query = urllib.parse.parse_qs(target.query + "&" + body)
            method = target.path.rsplit("/", 1)[-1].removesuffix(".view")
            catalog = self.server.catalog
            if method == "targets":
                # Not of Subsonic: what has been asked for since the last time, for a download of just the same.
                content = b'"targets":' + json.dumps(catalog.targets).encode()
                catalog.targets = []
            else:
                if method == "search3" and self.server.delay:
                    time.sleep(self.server.delay)
                content = catalog.answer(method, query)
                catalog.targets.append(target.path + "?" + (target.query or body))
            status = b'"status":"ok","version":"1.16.1","type":"catalog","serverVersion":"1","openSubsonic":true'
            if content is None:
                status = status.replace(b'"ok"', b'"failed"')
                content = b'"error":{"code":0,"message":"not in the catalog"}'
            reply = b'{"subsonic-response":{' + status + (b"," if content else b"") + content + b"}}"
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(reply) + reply)


class CatalogServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, catalog, port=0, delay=0):
        self.catalog = catalog
        self.delay = delay / 1000
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, request, address):
        """A client that goes away is no error."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--songs", type=int, default=100_000)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0, help="milliseconds before the answer to a search")
    options = parser.parse_args()
    catalog = Catalog(options.songs)
    catalog.prepare()
    server = CatalogServer(catalog, options.port, options.delay)
    print(f"READY {server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
