// Opens a trace of `elector sim --trace`: one JSON object a line, src/sim/output/export.h says which. It becomes records again, which
// are shown as if they had been made here.
import { Engine, RawRun } from '../shared/engine';
import { recordSize, roleNames, What } from '../shared/records';

/** The trace's mistake, with its line. */
export class TraceError extends Error {}

const whats: Record<string, number> = {
  started: What.started, campaigned: What.campaigned, sent: What.sent, delivered: What.delivered, dropped: What.dropped,
  copied: What.copied, returned: What.returned, 'timed-out': What.timedOut, suspected: What.suspected, trusted: What.trusted,
  noted: What.noted, viewed: What.viewed, crashed: What.crashed, restarted: What.restarted, paused: What.paused, resumed: What.resumed,
  saved: What.saved, requested: What.requested, told: What.told, admitted: What.admitted, refused: What.refused, jumped: What.jumped,
  looped: What.looped, rested: What.rested, parted: What.nothing, healed: What.nothing, violated: What.violated,
};

type Json = Record<string, unknown>;

export function looksLikeTrace(text: string): boolean {
  return text.trimStart().startsWith('{');
}

function parseLine(name: string, line: string, number: number): Json {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch { /* said below */ }
  throw new TraceError(`${name}:${number}: this line is no JSON object; a trace of \`elector sim --trace\` has one on each line`);
}

export function openTrace(engine: Engine, name: string, text: string): RawRun {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const head = parseLine(name, lines[0] ?? '', 1);
  if (head.what !== 'run') throw new TraceError(`${name}:1: the first line must describe the run ("what":"run"), not "${String(head.what)}"`);
  const algorithm = engine.algorithm(String(head.algorithm));
  if (!algorithm) throw new TraceError(`${name}:1: there is no algorithm '${String(head.algorithm)}'`);
  const ids = Array.isArray(head.nodes) ? head.nodes.map(String) : [];
  if (ids.length === 0) throw new TraceError(`${name}:1: "nodes" must list the ids of the members`);
  const inUnits = head.unit === 'T';
  const bytes = new Uint8Array((lines.length - 1) * recordSize), view = new DataView(bytes.buffer);
  const texts = new Map<number, string>();
  const node = (value: unknown, at: number): number => {
    if (value === undefined || value === null) return 0;
    const place = ids.indexOf(String(value)) + 1;
    if (!place) throw new TraceError(`${name}:${at}: there is no node ${String(value)}`);
    return place;
  };
  for (let i = 1; i < lines.length; i++) {
    const json = parseLine(name, lines[i], i + 1), at = (i - 1) * recordSize, what = whats[String(json.what)];
    if (what === undefined) throw new TraceError(`${name}:${i + 1}: "${String(json.what)}" is nothing that happens in a trace`);
    const put = (offset: number, value: number) => view.setBigUint64(at + offset, BigInt(Math.max(0, Math.round(value))), true);
    const names = { kind: algorithm.kinds.indexOf(String(json.kind)) + 1, timer: algorithm.timers.indexOf(String(json.timer)), fact: algorithm.facts.indexOf(String(json.fact)) };
    if (typeof json.time !== 'number') throw new TraceError(`${name}:${i + 1}: "time" must be a number`);
    put(0, json.time * 1e6);
    put(8, Number(json.cause ?? 0));
    put(16, Number(json.message ?? json.term ?? json.value ?? json.step ?? 0));
    if (what === What.violated) {
      const kind = engine.catalogue.violations.find((each) => each.name === json.violation)?.kind;
      if (!kind) throw new TraceError(`${name}:${i + 1}: "${String(json.violation)}" is no violation`);
      put(24, kind);
      const concerned = Array.isArray(json.nodes) ? json.nodes : [];
      json.node = concerned[0];
      json.peer = concerned[1];
    }
    view.setUint32(at + 40, node(json.node, i + 1), true);
    view.setUint32(at + 44, node(json.to ?? json.from ?? json.peer ?? json.leader, i + 1), true);
    view.setUint32(at + 48, node(json.subject, i + 1), true);
    view.setUint32(at + 52, Math.max(0, algorithm.notes.indexOf(String(json.note))), true);
    view.setUint8(at + 56, what);
    view.setUint8(at + 57, Math.max(0, json.kind !== undefined ? names.kind : json.timer !== undefined ? names.timer : json.fact !== undefined ? names.fact : json.request === 'transfer' ? 2 : json.request === 'resign' ? 1 : 0));
    view.setUint8(at + 58, Math.max(0, roleNames.indexOf(String(json.role))));
    view.setUint8(at + 59, Math.max(0, ['lost', 'cut', 'dead'].indexOf(String(json.reason))));
    if (json.text !== undefined && what !== What.violated) texts.set(i, `${json.node !== undefined ? `${String(json.node)} ` : ''}${what === What.nothing ? `${String(json.what)}: ` : ''}${String(json.text)}`);
  }
  const script = `algorithm ${algorithm.name}\nids ${ids.join(',')}\n${inUnits ? '' : 'delay 1ms\n'}`;
  const raw = engine.openRecords(name, script, bytes);
  return { ...raw, text: (record) => texts.get(record) ?? raw.text(record) };
}
