"""A NAT for one member, which is inside: what it sends comes from another host, and only from there do answers reach it.

usage: nat.py PREFIX VOTERS PORT < orders    Inside, voter I is at PREFIX.10I:PORT; outside, at PREFIX.I:PORT. The NAT sends
from PREFIX.50, from a port for each voter. An order is a line: "rebind" takes other ports. It ends with its orders.
"""
import selectors
import socket
import sys

prefix, voters, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
selector = selectors.DefaultSelector()


def bound(host, number):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((host, number))
    return sock


inner = {i: bound(f"{prefix}.10{i}", port) for i in range(1, voters + 1)}
outer, member = {}, None


def rebind():
    for i in range(1, voters + 1):
        fresh = bound(f"{prefix}.50", 0)  # before the old one is closed: another port
        if i in outer:
            selector.unregister(outer[i])
            outer[i].close()
        outer[i] = fresh
        selector.register(fresh, selectors.EVENT_READ, ("outer", i))


rebind()
for i, sock in inner.items():
    selector.register(sock, selectors.EVENT_READ, ("inner", i))
selector.register(sys.stdin, selectors.EVENT_READ, ("orders", 0))
while True:
    for key, _ in selector.select():
        kind, i = key.data
        if kind == "orders":
            line = sys.stdin.readline()
            if not line:
                sys.exit(0)
            rebind()
            break  # other keys of this round may be of sockets that are closed
        datagram, source = key.fileobj.recvfrom(2048)
        if kind == "inner":
            member = source
            outer[i].sendto(datagram, (f"{prefix}.{i}", port))
        elif member:
            inner[i].sendto(datagram, member)
