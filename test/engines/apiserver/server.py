"""A strict API server of Kubernetes for tests: Leases alone, over TLS or not, with bearer tokens, client certificates and rights for
each verb, watches with bookmarks, and faults on demand.

    server.py ADDRESS PORT FOLDER [CERT KEY [CLIENT_CA]]

FOLDER/users has a line for each who may do something: TOKEN-or-cn:NAME USER VERB,VERB,... It is read for each request. FOLDER/data
keeps the Leases, FOLDER/violations what candidates did to each other. Faults are ordered at PORT + 1: GET /WORD/ARGUMENT/...
"""
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leases import GROUP, Leases, Refusal, bad  # noqa: E402

BASE = ["apis", GROUP, "v1", "namespaces"]
QUERIES = {"watch": {"watch", "allowWatchBookmarks", "timeoutSeconds", "resourceVersion"}, "list": set(), "get": set(), "create": {"dryRun"},
           "update": set(), "delete": set()}


class Faults:
    def __init__(self):
        self.lost = 0       # so many writes are done, and not answered
        self.codes = []     # [code, retry_after, verbs]: so the next requests end
        self.delay = 0.0    # before each answer
        self.slow = []      # verbs that this is about; none: all
        self.watch_epoch = 0
        self.gone = False   # the watches end with 410
        self.silent = False  # watches say nothing
        self.saved = None
        self.clock = 0      # seconds that its Date is ahead
        self.requests = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes out at once

    def log_message(self, format, *args):  # noqa: A002
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + self.server.faults.clock)

    def send(self, code, body, headers=()):
        data = (json.dumps(body) + "\n").encode()
        self.send_response(code)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(data))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    # Who asks, and what for.

    def identities(self):
        certificate = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        names = [value for part in (certificate or {}).get("subject", ()) for key, value in part if key == "commonName"]
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        if self.headers.get("Authorization") and kind != "Bearer":
            raise bad("Authorization is no bearer token")
        return [token] if token else ["cn:" + name for name in names] or ["anonymous"]

    def authorize(self, verb, namespace, name):
        wanted = self.identities()
        with open(self.server.folder + "/users", encoding="utf-8") as users:
            for line in users:
                who, user, verbs = line.split()
                if who not in wanted:
                    continue
                if verb in verbs.split(","):
                    return user
                what = f' "{name}"' if name else ""
                raise Refusal(403, "Forbidden", f'leases.{GROUP}{what} is forbidden: User "{user}" cannot {verb} resource "leases" in '
                              f'API group "{GROUP}" in the namespace "{namespace}"', name=name, group=GROUP, kind="leases")
        raise Refusal(401, "Unauthorized", "Unauthorized")

    def read_body(self):
        size = self.headers.get("Content-Length")
        if size is None or not size.isdigit() or int(size) > 3 << 20:
            raise bad("a body needs a Content-Length of at most 3 MiB")
        body = self.rfile.read(int(size))
        if self.headers.get("Content-Type") != "application/json":
            raise Refusal(415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json")
        try:
            return json.loads(body)
        except ValueError as error:
            raise bad(f"the body is no JSON: {error}") from None

    def discover(self):
        """What every user may ask, and without credentials only /version."""
        if self.path == "/version":
            self.send(200, {"major": "1", "minor": "20", "gitVersion": "v1.20.2-elector"})
            return
        with open(self.server.folder + "/users", encoding="utf-8") as users:
            if not any(line.split()[0] in self.identities() for line in users):
                raise Refusal(401, "Unauthorized", "Unauthorized")
        verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
        self.send(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": GROUP + "/v1", "resources": [
            {"name": "leases", "singularName": "", "namespaced": True, "kind": "Lease", "verbs": verbs}]})

    def review_access(self):
        """Whether the asker may do one thing: a SelfSubjectAccessReview, which every user may create."""
        body, wanted = self.read_body(), self.identities()
        if body.get("kind") != "SelfSubjectAccessReview" or body.get("apiVersion") != "authorization.k8s.io/v1":
            raise bad("no kind SelfSubjectAccessReview of authorization.k8s.io/v1 is registered for this body")
        what = body.get("spec", {}).get("resourceAttributes")
        if not isinstance(what, dict) or set(what) - {"namespace", "verb", "group", "version", "resource", "subresource", "name"}:
            raise bad("exactly one of nonResourceAttributes or resourceAttributes must be specified")
        with open(self.server.folder + "/users", encoding="utf-8") as users:
            for who, _, verbs in (line.split() for line in users):
                if who in wanted:
                    allowed = what.get("verb") in verbs.split(",") and what.get("group") == GROUP and what.get("resource") == "leases"
                    self.send(201, dict(body, status={"allowed": allowed}))
                    return
        raise Refusal(401, "Unauthorized", "Unauthorized")

    def review(self):
        """What the asker may do: a SelfSubjectRulesReview, which every user may create."""
        body, wanted = self.read_body(), self.identities()
        if body.get("kind") != "SelfSubjectRulesReview" or body.get("apiVersion") != "authorization.k8s.io/v1":
            raise bad("no kind SelfSubjectRulesReview of authorization.k8s.io/v1 is registered for this body")
        if not isinstance(body.get("spec", {}).get("namespace"), str):
            raise bad("no namespace on request")
        with open(self.server.folder + "/users", encoding="utf-8") as users:
            for who, _, verbs in (line.split() for line in users):
                if who in wanted:
                    rules = [{"verbs": verbs.split(","), "apiGroups": [GROUP], "resources": ["leases"]},
                             {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectrulesreviews"]}]
                    self.send(201, dict(body, status={"resourceRules": rules, "nonResourceRules": [], "incomplete": False}))
                    return
        raise Refusal(401, "Unauthorized", "Unauthorized")

    def parse(self):
        """Verb, namespace, name, query."""
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.split("/")[1:]
        query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=bool(url.query)))
        if not any(kind in self.headers.get("Accept", "*/*") for kind in ("application/json", "*/*")):
            raise Refusal(406, "NotAcceptable", "only application/json is served")
        if parts[:4] != BASE or len(parts) not in (6, 7) or parts[5] != "leases" or not all(parts):
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        name = parts[6] if len(parts) == 7 else None
        verbs = {"GET": "get" if name else "watch" if "watch" in query else "list", "POST": None if name else "create",
                 "PUT": "update" if name else None, "DELETE": "delete" if name else None}
        verb = verbs.get(self.command)
        if not verb:
            raise Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        if set(query) - QUERIES[verb]:
            raise bad(f"query parameters that nobody knows: {set(query) - QUERIES[verb]}")
        return verb, parts[4], name, query

    def serve(self):
        faults, leases = self.server.faults, self.server.leases
        loses = made = False
        try:
            if self.command == "POST" and self.path == "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews":
                self.review()
                return
            if self.command == "POST" and self.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
                self.review_access()
                return
            if self.command == "GET" and self.path in ("/version", f"/apis/{GROUP}/v1"):
                self.discover()
                return
            verb, namespace, name, query = self.parse()
            body = self.read_body() if self.command in ("POST", "PUT") else None
            faults.requests[verb] = faults.requests.get(verb, 0) + 1
            self.authorize(verb, namespace, name)
            for fault in faults.codes:
                if fault[3] > 0 and (not fault[2] or verb in fault[2]):
                    fault[3] -= 1
                    code, retry_after = fault[0], fault[1]
                    self.send(code, Refusal(code, "Fault", "ordered by the test").status, [("Retry-After", retry_after)] if retry_after else [])
                    return
            if verb == "watch":
                self.watch(namespace, query)
                return
            with leases.changed:
                if verb == "get":
                    answer = leases.get(namespace, name)
                elif verb == "list":
                    answer = leases.list(namespace)
                elif verb == "create":
                    if query.get("dryRun", "All") != "All":
                        raise bad("dryRun: Unsupported value: supported values: \"All\"")
                    answer = leases.create(namespace, body, "dryRun" in query)
                elif verb == "update":
                    made = (namespace, name) not in leases.objects
                    answer = leases.update(namespace, name, body)
                else:
                    answer = leases.delete(namespace, name)
                if verb in ("create", "update") and faults.lost > 0:
                    faults.lost -= 1
                    loses = True
            if not faults.slow or verb in faults.slow:
                time.sleep(faults.delay)
            if loses:
                self.close_connection = True
                return
            self.send(201 if verb == "create" or made else 200, answer)
        except Refusal as refusal:
            self.send(refusal.code, refusal.status)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = serve

    # Watches.

    def chunk(self, event):
        data = (json.dumps(event) + "\n").encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def bookmark(self):
        version = str(self.server.leases.version)
        self.chunk({"type": "BOOKMARK", "object": {"kind": "Lease", "apiVersion": GROUP + "/v1",
                                                   "metadata": {"resourceVersion": version, "creationTimestamp": None}, "spec": {}}})

    def watch(self, namespace, query):
        leases, faults = self.server.leases, self.server.faults
        if not query.get("resourceVersion", "").isdigit():
            raise Refusal(500, None, f'strconv.ParseUint: parsing "{query.get("resourceVersion")}": invalid syntax')
        if query["watch"] not in ("1", "true"):
            raise bad("this server watches by watch=true")
        at, epoch = int(query["resourceVersion"]), faults.watch_epoch
        end = time.monotonic() + int(query.get("timeoutSeconds", "1800"))
        is_old = at < leases.compacted
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        marked = time.monotonic()
        if is_old:
            self.chunk({"type": "ERROR", "object": Refusal(410, "Expired", f"too old resource version: {at} ({leases.compacted})").status})
        while not is_old and time.monotonic() < end and epoch == faults.watch_epoch:
            with leases.changed:
                news = [] if faults.silent else [event for event in leases.events if event[0] > at]
                if not news:
                    leases.changed.wait(min(0.5, max(0.0, end - time.monotonic())))
            for version, kind, key, lease in news:
                at = version
                if key[0] == namespace:
                    self.chunk({"type": kind, "object": lease})
            if query.get("allowWatchBookmarks") and not faults.silent and time.monotonic() - marked >= 1:
                marked = time.monotonic()
                self.bookmark()
        if not is_old and epoch != faults.watch_epoch and faults.gone:
            self.chunk({"type": "ERROR", "object": Refusal(410, "Expired", f"too old resource version: {at}").status})
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


class Orders(http.server.BaseHTTPRequestHandler):
    """Faults, by GET /WORD/ARGUMENT/..."""

    def log_message(self, format, *args):  # noqa: A002
        pass

    def do_GET(self):
        faults, leases = self.server.faults, self.server.leases
        word, *rest = self.path.strip("/").split("/")
        text = "ok"
        with leases.changed:
            if word == "lose":  # COUNT
                faults.lost = int(rest[0])
            elif word == "code":  # CODE RETRY_AFTER COUNT VERB,VERB
                faults.codes = [[int(rest[0]), "" if rest[1] == "-" else rest[1], rest[3].split(",") if len(rest) > 3 else [], int(rest[2])]]
            elif word == "delay":  # MS [VERB,VERB]
                faults.delay, faults.slow = int(rest[0]) / 1000, rest[1].split(",") if len(rest) > 1 else []
            elif word in ("end-watches", "gone"):
                faults.gone = word == "gone"
                faults.watch_epoch += 1
                if faults.gone:
                    leases.compact()
                leases.changed.notify_all()
            elif word == "silent":  # 0 or 1
                faults.silent = rest[0] == "1"
            elif word == "clock":  # SECONDS
                faults.clock = int(rest[0])
            elif word == "compact":
                leases.compact()
            elif word == "backup":
                faults.saved = leases.backup()
            elif word == "restore":
                leases.back_to(faults.saved)
                faults.watch_epoch += 1
            elif word == "strict":  # 0 or 1: whether takeovers are judged
                leases.strict = rest[0] == "1"
            elif word == "count":  # VERB: requests so far
                text = str(faults.requests.get(rest[0], 0))
            else:
                text = "unknown"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode() + b"\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, ssl.SSLError, OSError)):
            super().handle_error(request, client_address)


class TlsServer(Server):
    context = None

    def finish_request(self, request, client_address):  # in the connection's own thread: a slow hand-shake stops nobody
        request.settimeout(20)
        with self.context.wrap_socket(request, server_side=True) as tls:
            tls.settimeout(None)
            self.RequestHandlerClass(tls, client_address, self)


def main():
    address, port, folder, *files = sys.argv[1:]
    leases, faults = Leases(folder + "/data", folder + "/violations"), Faults()
    kind = Server
    if files:
        kind = TlsServer
        kind.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        kind.context.load_cert_chain(files[0], files[1])
        if len(files) > 2:
            kind.context.load_verify_locations(files[2])
            kind.context.verify_mode = ssl.CERT_OPTIONAL
    server, orders = kind((address, int(port)), Handler), http.server.ThreadingHTTPServer((address, int(port) + 1), Orders)
    for each in (server, orders):
        each.leases, each.faults, each.folder = leases, faults, folder
    threading.Thread(target=orders.serve_forever, daemon=True).start()
    print("ready", flush=True)
    server.serve_forever()


main()
