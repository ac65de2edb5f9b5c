#!/usr/bin/env python3
"""Campaigns at an agent without the library, with JSON lines over its socket (docs/socket-protocol.md).

Usage: campaign.py [--jobs N] GROUP [SOCKET]
"""
import json
import select
import socket
import sys
import time

LINE_MAX = 65536


class Agent:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.unread = b""

    def send(self, **request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def lines(self, seconds):
        """The lines that arrive; waits for the first for at most that many seconds."""
        ready, _, _ = select.select([self.socket], [], [], max(0.0, seconds))
        if not ready:
            return []
        data = self.socket.recv(LINE_MAX)
        if not data:
            sys.exit("the agent is gone, and so is all leadership")
        *lines, self.unread = (self.unread + data).split(b"\n")
        if len(self.unread) > LINE_MAX:
            sys.exit("the agent sent a line without end")
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            sys.exit("what answers there speaks no JSON; is it an agent?")


class Campaign:
    def __init__(self, agent, group):
        self.agent, self.group = agent, group
        self.token, self.deadline_ns = 0, 0
        agent.send(id=1, op="campaign", group=group)

    def is_leader(self):
        """Whether the deadline is still ahead. Ask before every action that only a leader may take."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) < self.deadline_ns

    def hear(self, seconds):
        for line in self.agent.lines(seconds):
            if line.get("ok") is False:
                sys.exit(f"refused: {line.get('message') or line.get('error')}")
            if line.get("group") != self.group:
                continue
            event = line.get("event")
            if event in ("elected", "lease"):
                if event == "elected":
                    self.token = line["token"]
                    print(f"elected {self.group} token {self.token}", flush=True)
                deadline = line["deadline_ns"]
                self.deadline_ns = 2**63 if deadline is None else deadline
            elif event == "stop":
                self.deadline_ns = 0  # stop the work here, then tell the agent
                self.agent.send(op="stopped", group=self.group, token=line["token"])
            elif event == "lost":
                self.deadline_ns = 0
                print(f"lost {self.group} token {line['token']}: {line.get('reason')}", flush=True)


def main():
    words = sys.argv[1:]
    jobs = -1  # no limit
    if words[:1] == ["--jobs"] and len(words) > 1:
        jobs = int(words[1])
        words = words[2:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    path = words[1] if len(words) > 1 else "/run/elector/agent.sock"
    try:
        campaign = Campaign(Agent(path), words[0])
        while jobs != 0:
            campaign.hear(0.1)
            if campaign.is_leader():
                print(f"a job under token {campaign.token}", flush=True)
                jobs -= 1
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}; is the agent running?")
    except KeyboardInterrupt:
        pass  # closing the connection resigns


if __name__ == "__main__":
    main()
