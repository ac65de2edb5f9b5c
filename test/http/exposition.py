"""Reads Prometheus' text format (0.0.4) from a file and says what is wrong with it; strictly: also what Prometheus would
let pass, such as a family in two pieces. With --prove it spoils a copy in each way that it knows, and must notice."""

import math
import re
import sys

SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?!$)|$)')
TYPES = {"counter", "gauge", "histogram"}


def labels_of(text):
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or match[1] in found:
            raise ValueError(f"bad labels {{{text}}}")
        found[match[1]] = match[2]
        at = match.end()
    return found


def family_of(name, types):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(suffix)
        if base != name and types.get(base) == "histogram":
            return base
    return name


def check_histogram(name, samples):
    series = {}
    for sample, labels, value in samples:
        rest = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        part = series.setdefault(rest, {"buckets": []})
        if sample.endswith("_bucket"):
            part["buckets"].append((float(labels["le"]), value))
        else:
            part[sample.removeprefix(name)] = value
    for rest, part in series.items():
        bounds = [bound for bound, _ in part["buckets"]]
        counts = [count for _, count in part["buckets"]]
        if bounds != sorted(set(bounds)) or not bounds or bounds[-1] != math.inf:
            raise ValueError(f"{name}{rest}: bounds do not rise to +Inf")
        if counts != sorted(counts) or counts[-1] != part.get("_count"):
            raise ValueError(f"{name}{rest}: buckets do not add up to the count")
        if "_sum" not in part or part["_sum"] < 0:
            raise ValueError(f"{name}{rest}: no sum")


def check(text):
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    types, helps, samples, seen, current = {}, set(), {}, set(), None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            _, _, current, words = line.split(" ", 3)
            if current in helps or not words.strip():
                raise ValueError(f"{current}: helped twice, or not at all")
            helps.add(current)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != current or name in types or kind not in TYPES:
                raise ValueError(f"{line}: not right behind its help, or of no known type")
            if (kind == "counter") != name.endswith("_total"):
                raise ValueError(f"{name}: counters end in _total, and only they")
            types[name] = kind
        else:
            match = SAMPLE.match(line)
            if not match:
                raise ValueError(f"no sample: {line!r}")
            labels, value = labels_of(match[2] or ""), float(match[3])
            family = family_of(match[1], types)
            if family not in types or family != current:
                raise ValueError(f"{match[1]}: not with its family")
            if types[family] == "histogram" and (match[1] == family or match[1].endswith("_bucket") != ("le" in labels)):
                raise ValueError(f"{line}: no part of a histogram")
            key = (match[1], tuple(sorted(labels.items())))
            if key in seen or math.isnan(value) or value < 0:
                raise ValueError(f"{line}: there twice, or no number of ours")
            seen.add(key)
            samples.setdefault(family, []).append((match[1], labels, value))
    for name, kind in types.items():
        if kind == "histogram" and name in samples:
            check_histogram(name, samples[name])
        if name not in samples:
            raise ValueError(f"{name}: a head without lines")
    return len(seen)


SPOILT = [
    (r"\n$", ""),
    (r"# HELP elector_groups .*\n", ""),
    (r"# TYPE elector_groups .*\n", ""),
    (r"(?m)^elector_groups (\d+)$", r"elector_groups \1\nelector_groups \1"),
    (r"(?m)^elector_groups (\d+)$", r"elector_groups  \1"),
    (r"(?m)^elector_groups (\d+)$", r"elector_groups x"),
    (r"(?m)^elector_groups (\d+)$", r"elector_groups{a=\"b\",} \1"),
    (r"(?m)^elector_groups (\d+)$", r"elector_groups{a=b} \1"),
    (r"(?m)^(elector_groups \d+\n)((?s:.*))", r"\2\1"),
    (r'(?m)^elector_failover_seconds_bucket\{le="\+Inf"\} .*\n', ""),
    (r"(?m)^elector_failover_seconds_count .*$", "elector_failover_seconds_count 99"),
    (r"(?m)^elector_failover_seconds_sum .*\n", ""),
    (r'le="0.001"', 'le="0.1"'),
    (r'(?m)^(elector_failover_seconds_bucket\{le="0.001"\}) .*$', r"\1 98"),
    (r"server_leader_changes_seen_total", "server_leader_changes_seen"),
    (r"\Z", "\n"),
]


def main():
    text = open(sys.argv[1], encoding="ascii").read()
    print(check(text), "samples")
    if "--prove" not in sys.argv:
        return
    for pattern, by in SPOILT:
        spoilt = re.sub(pattern, by, text)
        if spoilt == text:
            sys.exit(f"cannot spoil by {pattern}")
        try:
            check(spoilt)
        except ValueError:
            continue
        sys.exit(f"does not notice {pattern} -> {by}")
    print("noticed", len(SPOILT), "of", len(SPOILT))


try:
    main()
except ValueError as error:
    sys.exit(f"not in Prometheus' format: {error}")
