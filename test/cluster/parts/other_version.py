"""Stands for a member whose agent speaks another version of the messages between agents, in a cluster without keys.

usage: other_version.py HOST PORT MEMBER VERSION    MEMBER: its position. Answers each datagram, until it is ended.
"""
import os
import socket
import struct
import sys

HEAD = 40  # "ELP1", version, sender, 0, 0; boot id (16); counter (8); mark of the cluster (8)
host, port, member, version = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
boot = os.urandom(16)
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind((host, port))
counter = 0
while True:
    datagram, source = sock.recvfrom(2048)
    if len(datagram) <= HEAD or datagram[:4] != b"ELP1":
        continue
    head = datagram[:5] + bytes([member, 0, 0]) + boot + struct.pack("<Q", counter) + datagram[32:40]
    sock.sendto(head + bytes([version]) + datagram[HEAD + 1 :], source)
    counter += 1
