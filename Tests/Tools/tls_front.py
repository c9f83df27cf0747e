#!/usr/bin/python3
"""A line with TLS in front of a server of this machine, with certificates made for the occasion.

    tls_front.py FOLDER PORT [--client]

Makes in FOLDER: ca.pem, server.pem (for 127.0.0.1), alone.pem (self-signed), client.pem, client.key (opened by
"sesame"), client.p12 (the same). Listens with server.pem, and with alone.pem; with --client it wants to see the
client's certificate. Writes "READY PORT PORT" and passes bytes on until it is ended.
"""

import os
import socket
import ssl
import subprocess
import sys
import threading


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificates(folder):
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]
    open_key = [*key, "-noenc"]
    openssl(folder, "req", "-x509", *open_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test Authority")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key"]
    address = ["-addext", "subjectAltName=IP:127.0.0.1"]
    openssl(folder, "req", "-x509", *open_key, *signed, "-keyout", "server.key", "-out", "server.pem",
            "-subj", "/CN=server", *address)
    openssl(folder, "req", "-x509", *open_key, "-keyout", "alone.key", "-out", "alone.pem", "-subj", "/CN=alone",
            *address)
    openssl(folder, "req", "-x509", *key, *signed, "-passout", "pass:sesame", "-keyout", "client.key",
            "-out", "client.pem", "-subj", "/CN=client")
    openssl(folder, "pkcs12", "-export", "-in", "client.pem", "-inkey", "client.key", "-passin", "pass:sesame",
            "-passout", "pass:sesame", "-out", "client.p12")


def copy(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client, context, port):
    client = context.wrap_socket(client, server_side=True, do_handshake_on_connect=False)
    try:
        client.do_handshake()
        server = socket.create_connection(("127.0.0.1", port))
    except OSError:
        # What the client has sent meanwhile is read, lest the closing overtakes the alert.
        client = socket.socket(fileno=client.detach())
        with client:
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
        return
    threading.Thread(target=copy, args=(server, client), daemon=True).start()
    copy(client, server)


def listen(folder, name, wants_client, port):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key"))
    if wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(os.path.join(folder, "ca.pem"))
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, context, port), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def main():
    folder, port = sys.argv[1], int(sys.argv[2])
    make_certificates(folder)
    ports = [listen(folder, name, "--client" in sys.argv, port) for name in ("server", "alone")]
    print("READY", *ports, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
