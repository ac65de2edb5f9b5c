// A run as the page shows it: where each step begins, how each message ended, what each node was when.
import { Algorithm, Claim, Description, Format, RawRun, View } from './engine';
import { Records, Role, What } from './records';

/** What a node was from a time on, until the next entry. */
export interface Spell { time: number; alive: boolean; paused: boolean; role: number; leader: number; term: number }

/** Records of these kinds belong to the step of the record before them. */
const consequences: ReadonlySet<number> = new Set([What.sent, What.noted, What.viewed, What.copied, What.saved, What.violated]);

/**
 * A trace has a view only where a node names another leader. Between them a node that calls an election is taken to be electing;
 * who stands later, and terms that rise without a leader, a trace does not tell.
 */
function viewsOf(r: Records, nodes: number): View[] {
  const views: View[] = [], last: View[] = [];
  const see = (record: number, node: number, role: number, leader: number, term: number) => {
    const before = last[node];
    if (before && before.role === role && before.leader === leader && before.term === term) return;
    views.push(last[node] = { record, node, role, leader, term });
  };
  for (let i = 1; i <= r.count; i++) {
    const node = r.node(i);
    if (r.what(i) === What.viewed) see(i, node, r.role(i), r.peer(i), r.number(i));
    if (r.what(i) === What.crashed) see(i, node, Role.idle, 0, 0);
    if (r.what(i) === What.campaigned && last[node]?.role !== Role.leader) see(i, node, Role.electing, 0, last[node]?.term ?? 0);
    if (r.what(i) !== What.started) continue;
    for (let each = 1; each <= nodes; each++) see(0, each, each === node ? Role.leader : Role.follower, node, 0);
  }
  return views.sort((a, b) => a.record - b.record);
}

export class Run {
  readonly records: Records;
  readonly about: Description;
  readonly count: number;
  /** The first record of each step, ascending. */
  readonly steps: number[] = [];
  /** Whether a step has nothing but heartbeats in it. */
  readonly quiet: boolean[] = [];
  /** For a record that sent or copied a message: the record that ended its flight; 0: it is still under way. */
  readonly endOf: Int32Array;
  /** For a record that ended a flight: the record that began it. */
  readonly beginOf: Int32Array;
  /** By node: what it was, in order of time. */
  readonly spells: Spell[][];
  /** What nodes believe, by record: each change of it. */
  readonly views: View[];
  /** The records with which somebody began to lead, or began a new term. */
  readonly leads: number[];
  readonly longestFlight: number;

  constructor(private readonly raw: RawRun, readonly algorithm: Algorithm) {
    this.records = raw.records;
    this.about = raw.description;
    this.count = raw.records.count;
    this.endOf = new Int32Array(this.count + 1);
    this.beginOf = new Int32Array(this.count + 1);
    this.longestFlight = this.pairMessages();
    this.views = raw.views.length ? raw.views : viewsOf(raw.records, this.nodes);
    this.findSteps();
    this.spells = this.findSpells();
    this.leads = this.findLeads();
  }

  get recorded(): boolean { return this.raw.recorded === true; }
  get claims(): Claim[] { return this.raw.claims; }
  get nodes(): number { return this.about.members.length; }
  get end(): number { return Math.max(this.about.ended, this.count ? this.records.time(this.count) : 0); }

  id(node: number): string { return node ? this.about.members[node - 1].id : 'nobody'; }
  /** The agent's name, if the run is a recording. */
  name(node: number): string { return this.raw.names?.[node - 1] ?? ''; }
  text(record: number): string { return this.raw.text(record); }
  write(format: Format): string { return this.raw.write(format); }
  close(): void { this.raw.close(); }

  /** Heartbeats and their answers, which transcripts leave out. */
  isRoutine(kind: number): boolean { return (this.algorithm.routineKinds >>> kind & 1) === 1; }
  kindName(kind: number): string { return this.algorithm.kinds[kind - 1] ?? '?'; }

  /** "3.5", or "12.25 ms". */
  timeText(time: number): string {
    const unit = this.about.inUnits ? this.about.unit : 1e6;
    const text = (Math.floor(time / unit * 1000 + 1e-6) / 1000).toString();
    return this.about.inUnits ? text : `${text} ms`;
  }

  /** The number of the step that the record belongs to; -1 before the first. */
  stepOf(cursor: number): number {
    let low = -1, high = this.steps.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.steps[middle] <= cursor) low = middle; else high = middle - 1;
    }
    return low;
  }

  lastOfStep(step: number): number {
    return step + 1 < this.steps.length ? this.steps[step + 1] - 1 : this.count;
  }

  private pairMessages(): number {
    const r = this.records, copies = new Map<number, number[]>();
    let longest = 0;
    for (let i = 1; i <= this.count; i++) {
      const what = r.what(i);
      if (what === What.copied) {
        const sent = r.number(i);
        copies.set(sent, [...(copies.get(sent) ?? []), i]);
      }
      if (what !== What.delivered && what !== What.dropped) continue;
      let began = r.number(i);
      if (began < 1 || began > this.count) continue;
      if (this.endOf[began] !== 0) began = copies.get(began)?.find((copy) => this.endOf[copy] === 0) ?? 0;
      if (began === 0) continue;
      this.endOf[began] = i;
      this.beginOf[i] = began;
      longest = Math.max(longest, r.time(i) - r.time(began));
    }
    return Math.max(longest, this.about.delayMax);
  }

  private isConsequence(i: number): boolean {
    const r = this.records, what = r.what(i);
    if (i === 1) return false;
    if (what === What.dropped) return r.time(i) === r.time(i - 1) && this.beginOf[i] >= (this.steps[this.steps.length - 1] ?? 1);
    return consequences.has(what) && r.time(i) === r.time(i - 1);
  }

  private findSteps(): void {
    const r = this.records, seen = new Set(this.views.map((view) => view.record));
    for (let i = 1; i <= this.count; i++) {
      const what = r.what(i);
      const isBeat = (what === What.sent || what === What.delivered || what === What.dropped || what === What.returned) && this.isRoutine(r.kind(i));
      const isQuiet = (isBeat || what === What.timedOut || what === What.saved) && !seen.has(i);
      if (!this.isConsequence(i)) {
        this.steps.push(i);
        this.quiet.push(isQuiet);
      } else if (!isQuiet) {
        this.quiet[this.quiet.length - 1] = false;
      }
    }
  }

  private findSpells(): Spell[][] {
    const r = this.records, all: Spell[][] = [[]];
    for (let node = 1; node <= this.nodes; node++) all.push([{ time: 0, alive: true, paused: false, role: Role.idle, leader: 0, term: 0 }]);
    const become = (node: number, time: number, change: Partial<Spell>) => {
      const spells = all[node], last = spells[spells.length - 1], next = { ...last, time, ...change };
      if (last.time === time) spells[spells.length - 1] = next; else spells.push(next);
    };
    for (let i = 0, at = 0; i <= this.count; i++) {
      const time = i ? r.time(i) : 0, what = i ? r.what(i) : What.nothing, node = i ? r.node(i) : 0;
      if (what === What.crashed) become(node, time, { alive: false, paused: false, role: Role.idle, leader: 0, term: 0 });
      if (what === What.restarted) become(node, time, { alive: true });
      if (what === What.paused) become(node, time, { paused: true });
      if (what === What.resumed) become(node, time, { paused: false });
      for (; at < this.views.length && this.views[at].record <= i; at++) {
        const { node: who, role, leader, term } = this.views[at];
        become(who, time, { role, leader, term });
      }
    }
    return all;
  }

  private findLeads(): number[] {
    const leading = new Map<number, number>(), leads: number[] = [];
    for (const { record, node, role, term } of this.views) {
      if (role === Role.leader && leading.get(node) !== term && record > 0) leads.push(record);
      if (role === Role.leader) leading.set(node, term); else leading.delete(node);
    }
    return leads;
  }
}
