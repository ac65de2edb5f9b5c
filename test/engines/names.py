"""Asks an engine for names that nobody used before, one after the other: names.py SOCKET COUNT. A name that is refused because there are too
many is asked for again. Prints how many the engine lists in the end."""
import json
import socket
import sys
import time

path, count = sys.argv[1], int(sys.argv[2])
link = socket.socket(socket.AF_UNIX)
link.connect(path)
lines = link.makefile("rb")


def ask(request):
    link.sendall(json.dumps(request).encode() + b"\n")
    return json.loads(lines.readline())


end = time.monotonic() + 240
for number in range(count):
    while True:
        answer = ask({"id": 1, "op": "status", "group": f"job-{number}"})
        if answer["ok"]:
            break
        if "too many groups" not in answer["message"]:
            sys.exit(f"job-{number}: {answer}")
        if time.monotonic() > end:
            sys.exit(f"not one of {number} groups was forgotten: {answer['message']}")
        time.sleep(0.02)
listed = at = 0
while at is not None:
    answer = ask({"id": 2, "op": "status", "from": at})
    listed += len(answer["groups"])
    at = answer.get("next")
print(listed)
