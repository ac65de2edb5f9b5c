"""A proxy for HTTP CONNECT: proxy.py ADDRESS PORT LOG. Each tunnel is a line of LOG. While the file LOG.closed is there, it refuses."""
import os
import socket
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data:
            return
        head += data
    method, place, _ = head.split(b"\r\n")[0].decode().split(" ")
    if method != "CONNECT" or os.path.exists(log + ".closed"):
        client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        client.close()
        return
    with open(log, "a", encoding="utf-8") as lines:
        lines.write(place + "\n")
    host, _, port = place.rpartition(":")
    try:
        server = socket.create_connection((host, int(port)), 10)
    except OSError:
        client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        client.close()
        return
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


address, port, log = sys.argv[1:]
listener = socket.create_server((address, int(port)))
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
