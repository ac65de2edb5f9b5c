"""A command under kazoo's Election, as its documentation has it: kazoo_run.py HOSTS SESSION_S PATH COMMAND..."""
import os
import subprocess
import sys

from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1], timeout=float(sys.argv[2]))
client.start()
client.Election(sys.argv[3], str(os.getpid())).run(lambda: subprocess.call(sys.argv[4:]))
client.stop()
