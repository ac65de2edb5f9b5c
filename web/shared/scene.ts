// The state of a run after any of its records. A scene moves forward by applying records, and to any other place from the
// nearest snapshot before it: one is kept every `snapshotEvery` records, so a jump applies that many at most.
import { Run } from './run';
import { Role, roleNames, What } from './records';

export const snapshotEvery = 1024;

interface State {
  cursor: number;
  claim: number; // how many of the run's claims are applied ...
  view: number; // ... and of its views
  alive: Uint8Array;
  paused: Uint8Array;
  role: Uint8Array;
  leader: Uint32Array;
  term: Float64Array;
  leaseFrom: Float64Array;
  leaseEnd: Float64Array; // 0: nothing bounds its claim
  suspects: Uint8Array; // [node * (count + 1) + peer]
  broken: Uint8Array;
  sentByKind: Float64Array; // [0] is the sum
  flight: Set<number>;
  lost: number;
  failedHops: number;
  violated: number; // kinds, as bits
  resting: number;
}

function copy(state: State): State {
  return {
    ...state,
    alive: state.alive.slice(), paused: state.paused.slice(), role: state.role.slice(), leader: state.leader.slice(),
    term: state.term.slice(), leaseFrom: state.leaseFrom.slice(), leaseEnd: state.leaseEnd.slice(),
    suspects: state.suspects.slice(), broken: state.broken.slice(), sentByKind: state.sentByKind.slice(),
    flight: new Set(state.flight),
  };
}

/** What nodes believe by this record. */
function believe(run: Run, state: State): void {
  for (; state.view < run.views.length && run.views[state.view].record <= state.cursor; state.view++) {
    const { node, role, leader, term } = run.views[state.view];
    state.role[node] = role;
    state.leader[node] = leader;
    state.term[node] = term;
    if (role !== Role.leader) state.leaseEnd[node] = 0;
  }
}

function begin(run: Run): State {
  const size = run.nodes + 1;
  const state: State = {
    cursor: 0, claim: 0, view: 0,
    alive: new Uint8Array(size).fill(1), paused: new Uint8Array(size), role: new Uint8Array(size),
    leader: new Uint32Array(size), term: new Float64Array(size), leaseFrom: new Float64Array(size),
    leaseEnd: new Float64Array(size), suspects: new Uint8Array(size * size),
    broken: new Uint8Array(run.about.breaks.length), sentByKind: new Float64Array(run.algorithm.kinds.length + 1),
    flight: new Set(), lost: 0, failedHops: 0, violated: 0, resting: 0,
  };
  believe(run, state);
  return state;
}

function die(state: State, node: number): void {
  state.alive[node] = state.paused[node] = 0;
  state.role[node] = Role.idle;
  state.leader[node] = state.leaseEnd[node] = 0;
  const size = state.alive.length;
  state.suspects.fill(0, node * size, (node + 1) * size);
}

function apply(run: Run, state: State, i: number): void {
  const r = run.records, what = r.what(i), node = r.node(i), peer = r.peer(i), size = run.nodes + 1;
  state.cursor = i;
  state.resting = 0;
  switch (what) {
    case What.sent:
      state.sentByKind[0]++;
      state.sentByKind[r.kind(i)]++;
      if (run.recorded && run.endOf[i] === 0) state.lost++;
      else state.flight.add(i);
      break;
    case What.copied: state.flight.add(i); break;
    case What.delivered: state.flight.delete(run.beginOf[i]); break;
    case What.dropped:
      state.flight.delete(run.beginOf[i]);
      state.lost++;
      break;
    case What.returned:
      state.failedHops++;
      state.sentByKind[0]--;
      state.sentByKind[r.kind(i)]--;
      break;
    case What.suspected: state.suspects[node * size + peer] = 1; break;
    case What.trusted: state.suspects[node * size + peer] = 0; break;
    case What.crashed: die(state, node); break;
    case What.restarted: state.alive[node] = 1; break;
    case What.paused: state.paused[node] = 1; break;
    case What.resumed: state.paused[node] = 0; break;
    case What.parted: state.broken[r.number(i)] = 1; break;
    case What.healed: state.broken[r.number(i)] = 0; break;
    case What.violated: state.violated |= run.about.violations[r.number(i)]?.kind ?? 0; break;
    case What.rested: state.resting = 1; break;
  }
  believe(run, state);
  for (; state.claim < run.claims.length && run.claims[state.claim].record <= i; state.claim++) {
    const claim = run.claims[state.claim];
    if (state.leaseEnd[claim.leader] !== claim.end) state.leaseFrom[claim.leader] = r.time(i);
    state.leaseEnd[claim.leader] = claim.end;
  }
}

export class Scene {
  private readonly snapshots: State[];
  private now: State;

  constructor(readonly run: Run) {
    const state = begin(run);
    this.snapshots = [copy(state)];
    for (let i = 1; i <= run.count; i++) {
      apply(run, state, i);
      if (i % snapshotEvery === 0) this.snapshots.push(copy(state));
    }
    this.now = copy(this.snapshots[0]);
  }

  get state(): Readonly<State> { return this.now; }
  get cursor(): number { return this.now.cursor; }

  moveTo(cursor: number): void {
    const target = Math.max(0, Math.min(cursor, this.run.count));
    const nearest = Math.floor(target / snapshotEvery);
    if (target < this.now.cursor || nearest * snapshotEvery > this.now.cursor) this.now = copy(this.snapshots[nearest]);
    while (this.now.cursor < target) apply(this.run, this.now, this.now.cursor + 1);
  }

  isSuspected(peer: number): boolean {
    const size = this.run.nodes + 1;
    for (let node = 1; node < size; node++) if (this.now.suspects[node * size + peer]) return true;
    return false;
  }

  isCut(from: number, to: number): boolean {
    return this.run.about.breaks.some((gap, i) => {
      if (!this.now.broken[i]) return false;
      if (gap.from) return gap.from === from && gap.to === to;
      const a = gap.sides[from - 1], b = gap.sides[to - 1];
      return a !== 0 && b !== 0 && a !== b;
    });
  }

  leaders(): number[] {
    return Array.from(this.now.role.keys()).filter((node) => node > 0 && this.now.role[node] === Role.leader);
  }

  /** Of each node: its id, its role or "dead", the leader's id and the term, as the program's table has them. */
  views(): string[] {
    const s = this.now, { run } = this;
    return run.about.members.map(({ id }, i) => s.alive[i + 1] ? `${id} ${roleNames[s.role[i + 1]]} ${run.id(s.leader[i + 1])} ${s.term[i + 1]}` : `${id} dead`);
  }

  /** FNV-1a over everything above: equal hashes, equal pictures. */
  hash(): string {
    let hash = 0x811c9dc5;
    const add = (bytes: Uint8Array) => { for (const b of bytes) hash = Math.imul(hash ^ b, 0x01000193); };
    const s = this.now;
    const numbers = [s.cursor, s.claim, s.view, s.lost, s.failedHops, s.violated, s.resting, ...[...s.flight].sort((a, b) => a - b)];
    for (const a of [s.alive, s.paused, s.role, s.suspects, s.broken]) add(a);
    for (const a of [s.leader, s.term, s.leaseFrom, s.leaseEnd, s.sentByKind, Float64Array.from(numbers)])
      add(new Uint8Array(a.buffer, a.byteOffset, a.byteLength));
    return (hash >>> 0).toString(16).padStart(8, '0');
  }
}
