"""Stands for a thousand groups over one socket, and says how many it leads, and how often these were renewed."""
import json
import socket
import sys

GROUPS = 1000
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
link.sendall(b'{"op":"hello","version":1}\n')
lines = link.makefile()
lines.readline()
elected, renewals = set(), 0
sent = 0
while True:  # asked in turns, so that no buffer fills
    if sent < GROUPS:
        link.sendall(json.dumps({"op": "campaign", "group": f"g{sent}"}).encode() + b"\n")
        sent += 1
    text = lines.readline()
    if not text:
        break
    said = json.loads(text)
    if said.get("ok") is False or said.get("event") == "lost":
        print("lost", text, flush=True)
    elif said.get("event") == "elected":
        elected.add(said["group"])
        if len(elected) == GROUPS:
            print("leads", GROUPS, flush=True)
    elif said.get("event") == "lease":
        if len(elected) == GROUPS:
            renewals += 1
            if renewals == 3 * GROUPS:
                print("renewed", renewals, flush=True)
