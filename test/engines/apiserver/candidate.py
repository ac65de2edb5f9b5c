"""A candidate as client-go's leader election is one (tools/leaderelection, with resourcelock.LeaseLock), without Elector's code: it
knows no annotations, and counts the age of a record from when it saw it change.

    candidate.py SERVER NAMESPACE NAME IDENTITY TOKEN DURATION RENEW_DEADLINE RETRY [CA]

It says `leads` and `lost`, with the time. SIGTERM releases the Lease, as ReleaseOnCancel does.
"""
import datetime
import json
import random
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request


class Candidate:
    def __init__(self, server, namespace, name, identity, token, duration, renew_deadline, retry, ca=None):
        self.url = f"{server}/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self.name, self.identity, self.token = name, identity, token
        self.duration, self.renew_deadline, self.retry = int(duration), float(renew_deadline), float(retry)
        self.context = ssl.create_default_context(cafile=ca) if ca else None
        self.seen, self.seen_at, self.lease = None, 0.0, None
        self.is_ending = False

    def call(self, method, url, body=None):
        request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body else None,
                                         headers={"Authorization": "Bearer " + self.token, "Accept": "application/json",
                                                  "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=self.renew_deadline / 2, context=self.context) as answer:
            return json.load(answer)

    @staticmethod
    def now():
        return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def observe(self, lease):
        self.lease = lease
        if lease["spec"] != self.seen:
            self.seen, self.seen_at = lease["spec"], time.monotonic()

    def try_acquire_or_renew(self):
        now = self.now()
        record = {"holderIdentity": self.identity, "leaseDurationSeconds": self.duration, "acquireTime": now, "renewTime": now, "leaseTransitions": 0}
        try:
            self.observe(self.call("GET", f"{self.url}/{self.name}"))
        except urllib.error.HTTPError as error:
            if error.code != 404:
                return False
            metadata = {"name": self.name}
            self.observe(self.call("POST", self.url, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": record}))
            return True
        old = self.seen
        holder = old.get("holderIdentity") or ""
        if holder and holder != self.identity and time.monotonic() < self.seen_at + old.get("leaseDurationSeconds", 0):
            return False
        record["leaseTransitions"] = old.get("leaseTransitions", 0)
        if holder == self.identity:
            record["acquireTime"] = old["acquireTime"]
        else:
            record["leaseTransitions"] += 1
        self.write(record)
        return True

    def write(self, record):
        lease = dict(self.lease, spec=record)
        lease.setdefault("kind", "Lease")
        self.observe(self.call("PUT", f"{self.url}/{self.name}", lease))

    def tried(self):
        try:
            return self.try_acquire_or_renew()
        except (OSError, ValueError):
            return False

    def release(self):
        if self.seen and self.seen.get("holderIdentity") == self.identity:
            now = self.now()
            self.write({"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now,
                        "leaseTransitions": self.seen.get("leaseTransitions", 0)})

    def run(self):
        while not self.is_ending and not self.tried():
            time.sleep(self.retry * (1 + random.random() / 5))
        if not self.is_ending:
            print("leads", time.monotonic_ns(), flush=True)
        renewed = time.monotonic()
        while not self.is_ending and time.monotonic() < renewed + self.renew_deadline:
            time.sleep(self.retry)
            if self.tried():
                renewed = time.monotonic()
        print("lost", time.monotonic_ns(), flush=True)
        if self.is_ending:
            self.release()

    def end(self, *_):
        self.is_ending = True


candidate = Candidate(*sys.argv[1:])
signal.signal(signal.SIGTERM, candidate.end)
candidate.run()
