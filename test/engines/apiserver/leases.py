"""The Leases of an API server of Kubernetes, as strict as the real one: versions, conflicts, what a field may hold. Beside that it
watches what candidates do to each other, by its own clock: whoever takes a Lease from a holder that still counts on it, or lets a
token fall, is written to `violations`."""
import copy
import json
import os
import re
import threading
import time
import uuid

MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
ANNOTATION = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
SPEC = {"holderIdentity": str, "leaseDurationSeconds": int, "acquireTime": str, "renewTime": str, "leaseTransitions": int}
METADATA = {"name": str, "namespace": str, "uid": str, "resourceVersion": str, "creationTimestamp": str, "annotations": dict,
            "labels": dict, "managedFields": list, "generation": int}
GROUP = "coordination.k8s.io"


class Refusal(Exception):
    """What becomes a Status object."""

    def __init__(self, code, reason, message, **details):
        super().__init__(message)
        self.code = code
        self.status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
        if reason:
            self.status["reason"] = reason
        details = {key: value for key, value in details.items() if value}
        if details:
            self.status["details"] = details


def invalid(name, field, why, kind="Lease"):
    return Refusal(422, "Invalid", f'Lease.{GROUP} "{name}" is invalid: {field}: {why}', name=name, group=GROUP, kind=kind)


def bad(why):
    return Refusal(400, "BadRequest", why)


def check_fields(what, given, known):
    for name, value in given.items():
        if name not in known:
            raise bad(f'strict decoding error: unknown field "{what}.{name}"')
        if value is not None and (not isinstance(value, known[name]) or isinstance(value, bool)):
            raise bad(f"json: cannot unmarshal into Go struct field {what}.{name}")


def check(body, name, namespace):
    if not isinstance(body, dict):
        raise bad("the body is no object")
    check_fields("Lease", body, {"apiVersion": str, "kind": str, "metadata": dict, "spec": dict})
    if body.get("apiVersion") != GROUP + "/v1" or body.get("kind") != "Lease":
        raise bad("no kind Lease of coordination.k8s.io/v1 is registered for this body")
    metadata, spec = body.get("metadata") or {}, body.get("spec") or {}
    check_fields("metadata", metadata, METADATA)
    check_fields("spec", spec, SPEC)
    its = metadata.get("name") or ""
    if name is not None and its != name:
        raise bad(f"the name of the object ({its}) does not match the name on the URL ({name})")
    if metadata.get("namespace", namespace) != namespace:
        raise bad("the namespace of the provided object does not match the namespace sent on the request")
    if len(its) > 253 or not SUBDOMAIN.fullmatch(its):
        raise invalid(its, "metadata.name", "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters")
    for key, value in (metadata.get("annotations") or {}).items():
        if not ANNOTATION.fullmatch(key) or len(key) > 317:
            raise invalid(its, "metadata.annotations", f'Invalid value: "{key}"')
        if not isinstance(value, str):
            raise bad("json: cannot unmarshal into Go struct field ObjectMeta.metadata.annotations of type string")
    for field in ("acquireTime", "renewTime"):
        if spec.get(field) is not None and not MICRO_TIME.fullmatch(spec[field]):
            raise bad(f'parsing time "{spec[field]}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse')
    if spec.get("leaseDurationSeconds") is not None and spec["leaseDurationSeconds"] <= 0:
        raise invalid(its, "spec.leaseDurationSeconds", "Invalid value: must be greater than 0")
    if spec.get("leaseTransitions") is not None and spec["leaseTransitions"] < 0:
        raise invalid(its, "spec.leaseTransitions", "Invalid value: must be greater than or equal to 0")
    for field in ("leaseDurationSeconds", "leaseTransitions"):
        if (spec.get(field) or 0) >= 1 << 31:
            raise bad(f"json: cannot unmarshal number into Go struct field LeaseSpec.spec.{field} of type int32")
    return metadata, spec


def missing(name):
    return Refusal(404, "NotFound", f'leases.{GROUP} "{name}" not found', name=name, group=GROUP, kind="leases")


class Leases:
    def __init__(self, file, violations):
        self.file, self.violations = file, violations
        self.changed = threading.Condition()
        self.version, self.compacted = 100, 0
        self.namespaces, self.objects, self.events = ["default", "shop"], {}, []
        self.written = {}  # when, by our clock: (namespace, name) -> seconds
        self.strict = True
        if os.path.exists(file):
            with open(file, encoding="utf-8") as saved:
                for version, key, lease in map(json.loads, saved):
                    self.version = version
                    self.objects[tuple(key)] = lease
            self.objects = {key: lease for key, lease in self.objects.items() if lease}
            self.compacted = self.version  # events are not kept
        for key in self.objects:
            self.written[key] = time.monotonic()

    def save(self, key):
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps([self.version, key, self.objects.get(key)]) + "\n")

    def note(self, text):
        with open(self.violations, "a", encoding="utf-8") as file:
            file.write(text + "\n")

    def record(self, key, kind, lease):
        self.events.append((self.version, kind, key, copy.deepcopy(lease)))
        self.save(key)
        self.changed.notify_all()

    def store(self, key, lease, kind):
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        self.objects[key] = lease
        self.written[key] = time.monotonic()
        self.record(key, kind, lease)
        return copy.deepcopy(lease)

    def get(self, namespace, name):
        if (namespace, name) not in self.objects:
            raise missing(name)
        return copy.deepcopy(self.objects[namespace, name])

    def list(self, namespace):
        items = [copy.deepcopy(lease) for (its, _), lease in sorted(self.objects.items()) if its == namespace]
        for item in items:  # as in a real list
            del item["kind"], item["apiVersion"]
        return {"kind": "LeaseList", "apiVersion": GROUP + "/v1", "metadata": {"resourceVersion": str(self.version)}, "items": items}

    def create(self, namespace, body, is_dry=False):
        metadata, spec = check(body, None, namespace)
        if metadata.get("resourceVersion"):
            raise Refusal(500, None, "resourceVersion should not be set on objects to be created")
        return self.make(namespace, metadata, spec, is_dry)

    def make(self, namespace, metadata, spec, is_dry=False):
        name = metadata["name"]
        if namespace not in self.namespaces:
            raise Refusal(404, "NotFound", f'namespaces "{namespace}" not found', name=namespace, kind="namespaces")
        if (namespace, name) in self.objects:
            raise Refusal(409, "AlreadyExists", f'leases.{GROUP} "{name}" already exists', name=name, group=GROUP, kind="leases")
        made = {"name": name, "namespace": namespace, "uid": str(uuid.uuid4()),
                "creationTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        made.update({key: metadata[key] for key in ("annotations", "labels") if metadata.get(key)})
        lease = {"kind": "Lease", "apiVersion": GROUP + "/v1", "metadata": made, "spec": {k: v for k, v in spec.items() if v is not None}}
        return lease if is_dry else self.store((namespace, name), lease, "ADDED")

    def update(self, namespace, name, body):
        metadata, spec = check(body, name, namespace)
        before = self.objects.get((namespace, name))
        uid = before["metadata"]["uid"] if before else ""
        if metadata.get("uid") not in (None, uid):
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on leases.{GROUP} "{name}": StorageError: invalid object, Code: 4, Key: '
                          f'/registry/leases/{namespace}/{name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: '
                          f'{metadata["uid"]}, UID in object meta: {uid}', name=name, group=GROUP, kind="leases")
        if not before:  # with a PUT, too, whatever version it names
            return self.make(namespace, metadata, spec)
        if not metadata.get("resourceVersion"):
            raise invalid(name, "metadata.resourceVersion", "Invalid value: 0x0: must be specified for an update", "leases")
        if metadata["resourceVersion"] != before["metadata"]["resourceVersion"]:
            raise Refusal(409, "Conflict", f'Operation cannot be fulfilled on leases.{GROUP} "{name}": the object has been modified; '
                          "please apply your changes to the latest version and try again", name=name, group=GROUP, kind="leases")
        lease = copy.deepcopy(before)
        lease["spec"] = {key: value for key, value in spec.items() if value is not None}
        for key in ("annotations", "labels"):
            lease["metadata"].pop(key, None)
            if metadata.get(key):
                lease["metadata"][key] = metadata[key]
        if lease == before:
            return copy.deepcopy(before)
        self.judge((namespace, name), before, lease)
        return self.store((namespace, name), lease, "MODIFIED")

    def delete(self, namespace, name):
        lease = self.get(namespace, name)
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        del self.objects[namespace, name]
        self.record((namespace, name), "DELETED", lease)
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                "details": {"name": name, "group": GROUP, "kind": "leases", "uid": lease["metadata"]["uid"]}}

    def judge(self, key, before, after):
        """What a candidate may not do, though the API allows it."""
        if not self.strict:
            return
        old, new = before["spec"], after["spec"]
        was, now = old.get("holderIdentity") or "", new.get("holderIdentity") or ""
        age = time.monotonic() - self.written[key]
        if was and now and was != now and age < old.get("leaseDurationSeconds", 15):
            self.note(f"{now} took {key[1]} from {was} after {age:.3f} s of {old.get('leaseDurationSeconds')}")
        had_one = was or old.get("acquireTime")
        wanted = old.get("leaseTransitions", 0) + (1 if had_one and now and was != now else 0)
        if new.get("leaseTransitions", 0) != wanted:
            self.note(f"{now or was}: leaseTransitions is {new.get('leaseTransitions')}, not {wanted}")
        if now == was and now and new.get("acquireTime") == old.get("acquireTime") and new.get("renewTime", "") <= old.get("renewTime", ""):
            self.note(f"{now}: renewTime does not rise")
        if not now and new.get("leaseDurationSeconds") != 1:
            self.note(f"{was}: gives the Lease back with {new.get('leaseDurationSeconds')} s instead of 1")
        tokens = [int((each["metadata"].get("annotations") or {}).get("elector/token", 0)) for each in (before, after)]
        if tokens[1] < tokens[0] or (tokens[1] != tokens[0] and not now):
            self.note(f"{now or was}: token {tokens[1]} after {tokens[0]}")
        if set(before["metadata"].get("labels") or {}) - set(after["metadata"].get("labels") or {}):
            self.note(f"{now or was}: a label of others is gone")

    # By hand, and faults.

    def compact(self):
        self.compacted, self.events = self.version, []

    def back_to(self, saved):
        """What a restored backup of etcd does."""
        self.version, self.objects = saved[0], copy.deepcopy(saved[1])
        self.compacted, self.events = self.version, []
        os.remove(self.file)
        for key in self.objects:
            self.save(key)
        self.changed.notify_all()

    def backup(self):
        return self.version, copy.deepcopy(self.objects)
