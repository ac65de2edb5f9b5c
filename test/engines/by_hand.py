"""What a person, or another program, does to ZooKeeper's nodes: by kazoo, so that it shares no code with ours.

    by_hand.py HOSTS ls PATH | get NODE | rm NODE | put NODE DATA [USER:PASSWORD] | acl NODE TO AS |
    elect PATH NAME | contenders PATH NAME
"""
import sys
import time

from kazoo.client import KazooClient
from kazoo.security import make_digest_acl


def main():
    hosts, word, path, *rest = sys.argv[1:]
    auth = [("digest", rest[1])] if word in ("put", "acl") and len(rest) > 1 else None
    client = KazooClient(hosts=hosts, timeout=2.0, auth_data=auth)
    client.start(timeout=20)
    if word == "ls":
        names = client.get_children(path) if client.exists(path) else []
        for name in sorted(names, key=lambda each: each[-10:]):
            print(name)
    elif word == "get":
        data, stat = client.get(path)
        print(data.decode(), stat.czxid)
    elif word == "rm":
        client.delete(path)
    elif word == "put":
        acl = [make_digest_acl(*rest[1].split(":"), all=True)] if len(rest) > 1 else None
        client.create(path, rest[0].encode(), makepath=True, acl=acl)
    elif word == "acl":  # from now on the node is TO's alone; given by AS, whose it is
        client.set_acls(path, [make_digest_acl(*rest[0].split(":"), all=True)])
    elif word == "contenders":
        print(" ".join(client.Election(path, rest[0]).contenders()))
    elif word == "elect":  # until it is killed, or told to resign by SIGTERM
        def lead():
            print("leads", flush=True)
            time.sleep(3600)
        client.Election(path, rest[0]).run(lead)
    client.stop()


main()
