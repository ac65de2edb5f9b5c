"""Asks an API server of Kubernetes the same questions about Leases, and prints its answers without what differs by nature: names of
users, times, numbers that the server chooses. The in-tree server is as good as its lines are those of the real one.

    answers.py SERVER CA TOKEN TOKEN-OF-ONE-WHO-MAY-ONLY-READ [old]

`old`: only what becomes of a watch from a version that the store has compacted away. `root` is the token of one who may do all.
"""
import http.client
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse

server, ca, token, reader = sys.argv[1:5]
place = urllib.parse.urlsplit(server)
BASE = "/apis/coordination.k8s.io/v1/namespaces/"
LEASES = BASE + "shop/leases"
TIME = "2026-01-02T03:04:05.678901Z"


def call(method, path, body=None, who=token, kind="application/json", accept="application/json"):
    link = http.client.HTTPSConnection(place.hostname, place.port, context=ssl.create_default_context(cafile=ca), timeout=20)
    headers = {"Accept": accept}
    if who:
        headers["Authorization"] = "Bearer " + who
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    if data is not None:
        headers["Content-Type"] = kind
    link.request(method, path, data, headers)
    answer = link.getresponse()
    text = answer.read()
    link.close()
    try:
        return answer.status, json.loads(text)
    except ValueError:
        return answer.status, {}


def lease(name, version=None, uid=None, annotations=None, **spec):
    metadata = {"name": name, "namespace": "shop"}
    if version is not None:
        metadata["resourceVersion"] = str(version)
    if uid:
        metadata["uid"] = uid
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def plain(message):
    """Without what a server may say in its own words: names of Go's types, positions, users."""
    message = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", message)
    message = re.sub(r"[Uu]ser \"[^\"]*\"", 'User "X"', message)
    return re.sub(r"\d{2,}", "N", message)


SAID = ("NotFound", "AlreadyExists", "Conflict", "Forbidden", "Unauthorized")  # reasons whose words are compared, too


def show(answer):
    status, body = answer
    if body.get("kind") == "Status":
        details = body.get("details") or {}
        text = [str(body.get(key)) for key in ("status", "reason", "code")] + [f"{key}={details[key]}" for key in ("name", "group", "kind") if key in details]
        if body.get("reason") in SAID:
            text.append(plain(body.get("message", "")))
        return f"{status} Status {' '.join(text)}"
    if body.get("kind") == "LeaseList":
        items = [f"{item['metadata']['name']}{'' if 'kind' not in item else ' with a kind'}" for item in body["items"]]
        return f"{status} LeaseList {'with' if body['metadata'].get('resourceVersion', '').isdigit() else 'without'} a version: {' '.join(items)}"
    if body.get("kind") == "Lease":
        return f"{status} {show_lease(body)}"
    if body.get("kind") == "SelfSubjectRulesReview":
        rules = [rule for rule in body["status"]["resourceRules"] if "coordination.k8s.io" in rule["apiGroups"]]
        return f"{status} review incomplete={body['status']['incomplete']} {[(sorted(rule['verbs']), rule['resources']) for rule in rules]}"
    return f"{status} {json.dumps(body, sort_keys=True)[:120]}"


def show_lease(body):
    metadata = body["metadata"]
    own = sorted(set(metadata) - {"managedFields", "selfLink"})
    version = "a number" if metadata.get("resourceVersion", "").isdigit() else "none"
    return f"Lease {metadata['name']} {own} version={version} annotations={json.dumps(metadata.get('annotations'), sort_keys=True)} spec={json.dumps(body.get('spec'), sort_keys=True)}"


def ask(what, *question, **more):
    answer = call(*question, **more)
    print(f"{what}: {show(answer)}", flush=True)
    return answer[1]


def version_of(body):
    return body["metadata"]["resourceVersion"]


def watch(query, seconds=6):
    """Events as they come, each on a line; ends with the stream."""
    link = http.client.HTTPSConnection(place.hostname, place.port, context=ssl.create_default_context(cafile=ca), timeout=seconds)
    link.request("GET", LEASES + "?" + query, headers={"Accept": "application/json", "Authorization": "Bearer " + token})
    answer = link.getresponse()
    said = [f"status {answer.status}"]
    if answer.status != 200:
        said = [show((answer.status, json.loads(answer.read())))]
    else:
        for line in answer:
            event = json.loads(line)
            body = event["object"]
            if event["type"] == "BOOKMARK":
                said.append(f"BOOKMARK {sorted(set(body))} {sorted(set(body['metadata']))}")
            else:
                said.append(f"{event['type']} {show_lease(body) if body.get('kind') == 'Lease' else show((0, body))}")
    link.close()
    return said


def main():
    ask("no such Lease", "GET", LEASES + "/none")
    ask("an update of none", "PUT", LEASES + "/none", lease("none", 1, holderIdentity="x"))
    ask("the end of that", "DELETE", LEASES + "/none")
    ask("the end of none", "DELETE", LEASES + "/none")
    ask("an update of none, with the uid of one that was", "PUT", LEASES + "/none", lease("none", 1, uid="0f0e5a8c-6f52-4a58-9a62-5a0a0f7e3f11", holderIdentity="x"))
    made = ask("a new one", "POST", LEASES, lease("one"))
    ask("the same again", "POST", LEASES, lease("one"))
    ask("a new one with a version", "POST", LEASES, lease("two", 1))
    ask("a new one in no namespace", "POST", BASE + "none/leases", {**lease("one"), "metadata": {"name": "one"}}, who="root")
    ask("one of no namespace", "GET", BASE + "none/leases/one", who="root")
    ask("a list of no namespace", "GET", BASE + "none/leases", who="root")
    first = version_of(made)
    held = ask("held", "PUT", LEASES + "/one", lease("one", first, holderIdentity="me", leaseDurationSeconds=15, acquireTime=TIME, renewTime=TIME,
                                                     leaseTransitions=0, annotations={"elector/token": "7", "elector/acquired": TIME}))
    now = version_of(held)
    ask("with the version before", "PUT", LEASES + "/one", lease("one", first, holderIdentity="you"))
    ask("without a version", "PUT", LEASES + "/one", lease("one", holderIdentity="you"))
    ask("with another uid", "PUT", LEASES + "/one", lease("one", now, uid="0f0e5a8c-6f52-4a58-9a62-5a0a0f7e3f11", holderIdentity="you"))
    ask("under another name", "PUT", LEASES + "/one", lease("two", now, holderIdentity="you"))
    ask("of another namespace", "POST", LEASES, {**lease("three"), "metadata": {"name": "three", "namespace": "other"}})
    for what, spec in (("three digits of a second", {"renewTime": "2026-01-02T03:04:05.678Z"}), ("no fraction of a second", {"renewTime": "2026-01-02T03:04:05Z"}),
                       ("a duration of 0", {"leaseDurationSeconds": 0}), ("a duration below 0", {"leaseDurationSeconds": -1}),
                       ("transitions below 0", {"leaseTransitions": -1}), ("a duration in words", {"leaseDurationSeconds": "15"}),
                       ("a duration above 2^31", {"leaseDurationSeconds": 1 << 31}), ("a number as holder", {"holderIdentity": 5})):
        ask(what, "PUT", LEASES + "/one", lease("one", now, **spec))
    ask("a name in capitals", "POST", LEASES, lease("One"))
    ask("a name with a slash", "POST", LEASES, lease("one/two"))
    ask("no name", "POST", LEASES, lease(""))
    ask("an annotation of no form", "PUT", LEASES + "/one", lease("one", now, annotations={"a b": "c"}, holderIdentity="me"))
    ask("an annotation that is a number", "PUT", LEASES + "/one", lease("one", now, annotations={"a": 5}, holderIdentity="me"))
    ask("no JSON", "POST", LEASES, b"{")
    ask("another kind", "POST", LEASES, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    ask("a body of another type", "POST", LEASES, b"x", kind="text/plain")
    ask("an answer of another type", "GET", LEASES + "/one", accept="text/html")
    ask("a method that nobody has", "POST", LEASES + "/one", lease("one"))
    ask("a resource that nobody has", "GET", BASE + "shop/none", who="root")
    ask("nobody", "GET", LEASES + "/one", who="wrong-token")
    ask("a reader reads", "GET", LEASES + "/one", who=reader)
    ask("a reader writes", "PUT", LEASES + "/one", lease("one", now, holderIdentity="you"), who=reader)
    ask("a reader creates", "POST", LEASES, lease("two"), who=reader)
    ask("a reader lists", "GET", LEASES, who=reader)
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "shop"}}
    ask("the rights of a reader", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review, who=reader)
    free = ask("given back", "PUT", LEASES + "/one", lease("one", now, holderIdentity="", leaseDurationSeconds=1, acquireTime=TIME, renewTime=TIME,
                                                           leaseTransitions=0, annotations={"elector/token": "7"}))
    same = ask("the same once more", "PUT", LEASES + "/one", lease("one", version_of(free), holderIdentity="", leaseDurationSeconds=1, acquireTime=TIME,
                                                                   renewTime=TIME, leaseTransitions=0, annotations={"elector/token": "7"}))
    print("a write that changes nothing " + ("keeps" if version_of(same) == version_of(free) else "changes") + " the version")
    ask("a list", "GET", LEASES)
    heard = []
    hearer = threading.Thread(target=lambda: heard.extend(watch(f"watch=true&resourceVersion={version_of(same)}&timeoutSeconds=3&allowWatchBookmarks=true", 20)))
    hearer.start()
    time.sleep(0.5)
    last = ask("held while one watches", "PUT", LEASES + "/one", lease("one", version_of(same), holderIdentity="me", leaseDurationSeconds=15))
    ask("another beside it", "POST", LEASES, lease("two", holderIdentity=""))
    gone = ask("its end", "DELETE", LEASES + "/one")
    hearer.join()
    events = [line for line in heard if not line.startswith("BOOKMARK")]
    print("\n".join("the watch: " + line for line in events))
    print("the end of the watch is the end of the stream")
    print("the versions of a Lease rise:", int(first) < int(now) < int(version_of(free)) < int(version_of(last)))
    again = ask("made anew", "POST", LEASES, lease("one"))
    print("its uid is", "another" if again["metadata"]["uid"] != made["metadata"]["uid"] else "the same", "and its version", "higher" if int(version_of(again)) > int(version_of(last)) else "not higher")
    print("watched from the first version:", " / ".join(watch(f"watch=true&resourceVersion={first}&timeoutSeconds=2")))
    print("watched without a version that is a number:", " / ".join(watch("watch=true&resourceVersion=x&timeoutSeconds=2")))
    del gone


if sys.argv[5:] == ["old"]:
    print("watched from a version that is too old:", " / ".join(watch("watch=true&resourceVersion=5&timeoutSeconds=2")))
    ask("a list", "GET", LEASES)
else:
    main()
