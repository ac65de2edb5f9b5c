// Opens a trace of `elector sim --trace`: one JSON object a line, src/sim/output/export.h says which. It becomes records again, which
// are shown as if they had been made here. A trace comes from outside: a line that makes no sense is refused, with its number.
import { Algorithm, Engine, Format, RawRun } from '../shared/engine';
import { recordSize, roleNames, What } from '../shared/records';

/** The trace's mistake, with its line. */
export class TraceError extends Error {}

const whats: Record<string, number | undefined> = {
  started: What.started, campaigned: What.campaigned, sent: What.sent, delivered: What.delivered, dropped: What.dropped,
  copied: What.copied, returned: What.returned, 'timed-out': What.timedOut, suspected: What.suspected, trusted: What.trusted,
  noted: What.noted, viewed: What.viewed, crashed: What.crashed, restarted: What.restarted, paused: What.paused, resumed: What.resumed,
  saved: What.saved, requested: What.requested, told: What.told, admitted: What.admitted, refused: What.refused, jumped: What.jumped,
  looped: What.looped, rested: What.rested, parted: What.nothing, healed: What.nothing, violated: What.violated,
};

/** What was opened; `about`: what its maker says of it. */
export interface Trace { name: string; text: string; about: string; recorded: boolean }

export function traceAbout({ text, about }: Trace): string {
  if (about !== '') return about;
  return /^[^\n]*"recorded":true/.test(text) ? 'What agents recorded: to be watched and not to be changed.'
    : 'A trace: a record of what happened, to be watched and not to be changed. It tells who calls an election and whom each takes for the leader; nobody who stands later, or a term without a leader, is in it.';
}

type Json = Record<string, unknown>;

const requests = ['campaign', 'resign', 'transfer'];
const reasons = ['lost', 'cut', 'dead'];

/** What happens to a node, and what happens to a message between two. */
const ofMessages: ReadonlySet<number> = new Set([What.sent, What.delivered, What.dropped, What.copied, What.returned]);
const ofNobody: ReadonlySet<number> = new Set([What.nothing, What.looped, What.rested, What.violated]);

export function looksLikeTrace(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/** What `elector replay --output page` has put into a page, if this is such a page. */
export function openedIn(page: string): { name: string; text: string; about: string } | undefined {
  const opened = new DOMParser().parseFromString(page, 'text/html').getElementById('opened');
  return opened ? { name: opened.dataset.name ?? '', text: opened.textContent ?? '', about: opened.dataset.about ?? '' } : undefined;
}

export function looksLikePage(text: string): boolean {
  return /^\s*<(!doctype|html)/i.test(text);
}

/** A flight recorder's file, which is binary: only `elector replay` can read it. */
export function looksLikeRecording(text: string): boolean {
  return text.startsWith('elflight');
}

/** One line of the trace, and how to complain about it. */
class TraceLine {
  readonly json: Json;

  constructor(private readonly file: string, readonly number: number, text: string) {
    let value: unknown;
    try { value = JSON.parse(text); } catch { /* said below */ }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw this.mistake('this line is no JSON object; a trace of `elector sim --trace` has one on each line');
    this.json = value as Json;
  }

  mistake(text: string): TraceError { return new TraceError(`${this.file}:${this.number}: ${text}`); }

  /** The first of these keys that is there; 0 if none is. */
  count(...keys: string[]): number {
    const key = keys.find((each) => this.json[each] !== undefined && this.json[each] !== null), value = key ? this.json[key] : 0;
    if (typeof value !== 'number') throw this.mistake(`"${key}" must be a number, not ${show(value)}`);
    return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value)));
  }

  time(unit: number): number {
    const { time } = this.json;
    if (typeof time !== 'number' || !(time >= 0 && time <= Number.MAX_SAFE_INTEGER / unit)) throw this.mistake(`"time" must be a number, not ${show(time)}`);
    return Math.round(time * unit);
  }

  /** The place of a word in a list; 0 if the key is not there. */
  word(key: string, list: string[], what: string): number {
    const value = this.json[key], at = list.indexOf(String(value));
    if (value === undefined) return 0;
    if (at < 0) throw this.mistake(`${show(value)} is no ${what}`);
    return at;
  }
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** A message's kind, a timer, a fact or a request: which of them depends on what happened. */
function kindOf(line: TraceLine, algorithm: Algorithm): number {
  const { json } = line;
  if (json.kind !== undefined) return line.word('kind', ['', ...algorithm.kinds], `message of ${algorithm.name}`);
  if (json.timer !== undefined) return line.word('timer', algorithm.timers, `timer of ${algorithm.name}`);
  if (json.fact !== undefined) return line.word('fact', algorithm.facts, `fact of ${algorithm.name}`);
  return line.word('request', requests, 'request');
}

export function openTrace(engine: Engine, name: string, text: string, recorded = false): RawRun {
  const lines = text.split('\n').map((each, i) => ({ each, number: i + 1 })).filter(({ each }) => each.trim() !== '');
  const head = new TraceLine(name, lines[0].number, lines[0].each), about = head.json;
  if (about.what !== 'run') throw head.mistake(`the first line must describe the run ("what":"run"), not ${show(about.what)}`);
  const algorithm = engine.algorithm(String(about.algorithm));
  if (!algorithm) throw head.mistake(`there is no algorithm ${show(about.algorithm)}`);
  const ids = Array.isArray(about.nodes) ? about.nodes.map(String) : [];
  if (ids.length === 0) throw head.mistake('"nodes" must list the ids of the members');
  const wrong = ids.find((id) => !/^\d{1,16}$/.test(id));
  if (wrong !== undefined) throw head.mistake(`${show(wrong)} is no id of a member`);
  const names = Array.isArray(about.names) && about.names.length === ids.length ? about.names.map((each) => String(each).slice(0, 64)) : undefined;
  const isRecorded = recorded || about.recorded === true;
  const inUnits = about.unit === 'T';
  const bytes = new Uint8Array((lines.length - 1) * recordSize), view = new DataView(bytes.buffer);
  const texts = new Map<number, string>();
  let before = 0;
  for (let i = 1; i < lines.length; i++) {
    const line = new TraceLine(name, lines[i].number, lines[i].each), { json } = line;
    const at = (i - 1) * recordSize, what = whats[String(json.what)], time = line.time(1e6);
    const put = (offset: number, value: number) => view.setBigUint64(at + offset, BigInt(value), true);
    const node = (value: unknown): number => {
      const place = value === undefined || value === null ? 0 : ids.indexOf(String(value)) + 1;
      if (!place && value !== undefined && value !== null) throw line.mistake(`there is no node ${typeof value === 'number' ? value : show(value)}`);
      return place;
    };
    if (what === undefined) throw line.mistake(`${show(json.what)} is nothing that happens in a trace`);
    if (time < before) throw line.mistake(`"time" goes back, from ${before / 1e6} to ${time / 1e6}`);
    before = time;
    put(0, time);
    put(8, line.count('cause'));
    put(16, line.count('message', 'term', 'value', 'step'));
    if (what === What.violated) {
      const kind = engine.catalogue.violations.find((each) => each.name === json.violation)?.kind;
      if (!kind) throw line.mistake(`${show(json.violation)} is no violation`);
      put(24, kind);
      const concerned = Array.isArray(json.nodes) ? json.nodes : [];
      json.node = concerned[0];
      json.peer = concerned[1];
    }
    const self = node(json.node), peer = node(json.to ?? json.from ?? json.peer ?? json.leader), kind = kindOf(line, algorithm);
    if (!self && !ofNobody.has(what)) throw line.mistake('"node" is missing: whom does it happen to?');
    if (ofMessages.has(what) && (!peer || !kind)) throw line.mistake('a message has "kind", and "to" or "from"');
    view.setUint32(at + 40, self, true);
    view.setUint32(at + 44, peer, true);
    view.setUint32(at + 48, node(json.subject), true);
    view.setUint32(at + 52, json.note === 'core' ? algorithm.notes.length : line.word('note', algorithm.notes, `note of ${algorithm.name}`), true);
    view.setUint8(at + 56, what);
    view.setUint8(at + 57, kind);
    view.setUint8(at + 58, line.word('role', roleNames, 'role'));
    view.setUint8(at + 59, line.word('reason', reasons, 'reason'));
    if (json.text !== undefined && what !== What.violated) texts.set(i, `${json.node !== undefined ? `${String(json.node)} ` : ''}${what === What.nothing ? `${String(json.what)}: ` : ''}${String(json.text)}`);
  }
  const script = `algorithm ${algorithm.name}\nids ${ids.join(',')}\n${inUnits ? '' : 'delay 1ms\n'}`;
  const raw = engine.openRecords(name, script, bytes);
  const write = (format: Format) => isRecorded && format === 'trace' ? `${lines[0].each}\n${raw.write(format).replace(/^.*\n/, '')}` : raw.write(format);
  return { ...raw, recorded: isRecorded, names, write, text: (record) => texts.get(record) ?? raw.text(record) };
}
