"""A candidate by kazoo's Election, for bench/silence: HOSTS SESSION_MS. Says `leads`, and `lost` when its session is not known to live."""
import os
import sys
import threading

from kazoo.client import KazooClient, KazooState

ended = threading.Event()


def say(word):
    print(word, flush=True)


def listen(state):
    if state != KazooState.CONNECTED:
        say("lost")
        ended.set()


def lead():
    if not ended.is_set():
        say("leads")
    ended.wait()
    say("lost")


while True:
    client = KazooClient(hosts=sys.argv[1], timeout=float(sys.argv[2]) / 1000)
    client.add_listener(listen)
    try:
        client.start(timeout=10)
        ended.clear()
        client.Election("/work", str(os.getpid())).run(lead)
    except Exception as why:  # a session that is lost while it waits; it stands again
        print(why, file=sys.stderr)
    finally:
        client.stop()
        client.close()
