#!/usr/bin/env python3
"""key_scan.py [--absent] PID FILE...: where the memory of a process holds the keys of these files, which are base64, one on each line.

Prints each mapping that holds one, with its flags (proc(5), smaps): lo is locked, dd is left out of core dumps, dc is absent
in forked processes. Ends with 1 if a key is anywhere else, or nowhere; with --absent, if it is anywhere. Needs the right to
read that memory.
"""
import base64
import re
import sys


def mappings(pid):
    """Yields start, end and the set of flags of each mapping that can be read."""
    start = end = None
    with open(f"/proc/{pid}/smaps") as smaps:
        for line in smaps:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (....) ", line)
            if head:
                start, end, readable = int(head[1], 16), int(head[2], 16), head[3][0] == "r"
            elif line.startswith("VmFlags:") and readable:
                yield start, end, set(line.split()[1:])


def main(pid, files, may_have):
    secrets = {}
    for path in files:
        with open(path) as file:
            for line in file:
                text = line.strip().encode()
                if text and not text.startswith(b"#"):
                    secrets[path, "raw"] = base64.b64decode(text)
                    secrets[path, "base64"] = text
    found, wrong = set(), 0
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for start, end, flags in mappings(pid):
            try:
                memory.seek(start)
                held = memory.read(end - start)
            except (OSError, OverflowError):  # such as the kernel's own pages
                continue
            for (path, form), secret in secrets.items():
                if secret not in held:
                    continue
                found.add(path)
                is_safe = may_have and {"lo", "dd", "dc"} <= flags
                wrong += not is_safe
                print(f"{'ok' if is_safe else 'WRONG'} {path} ({form}) at {start:x}-{end:x} flags {' '.join(sorted(flags))}")
    for path in files:
        if may_have and path not in found:
            wrong += 1
            print(f"WRONG {path}: its key is nowhere; this search finds nothing")
    return 1 if wrong else 0


words = sys.argv[1:]
is_absent = words[0] == "--absent"
sys.exit(main(words[is_absent], words[is_absent + 1 :], not is_absent))
