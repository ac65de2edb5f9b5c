// What the literature says an election costs, where it gives a formula; test/paper proves each of these of the code. A
// formula with a number needs the situation it was made for: one caller, and at most the highest dead from the beginning.
import { Run } from '../shared/run';
import { What } from '../shared/records';

interface Situation {
  count: number;
  hops: number; // from the caller to the best, along the ring
  above: number; // live members above the caller
  leaderIsDead: boolean;
}

interface Formula {
  text: string;
  reference: string;
  messages?: (s: Situation) => number | undefined;
}

const ring: Formula = {
  text: 'd + 2N: d hops from the caller to the best, a lap, and a lap to tell',
  reference: 'Chang and Roberts, 1979',
  messages: (s) => s.leaderIsDead ? undefined : s.hops + 2 * s.count,
};
const twoLaps: Formula = { text: '2N: two laps', reference: 'lecture notes on ring elections', messages: (s) => s.leaderIsDead ? undefined : 2 * s.count };

const formulas: Record<string, Formula> = {
  'ring-basic': ring,
  'chang-roberts': ring,
  'ring-collect': twoLaps,
  'ring-max': twoLaps,
  lelann: { text: 'N²: a lap for every token', reference: 'Le Lann, 1977', messages: (s) => s.leaderIsDead ? undefined : s.count ** 2 },
  'hirschberg-sinclair': { text: 'at most 8N (1 + log₂ N), and N to tell', reference: 'Hirschberg and Sinclair, 1980' },
  peterson: { text: 'at most 2N log₂ N, a lap, and N to tell', reference: 'Peterson, 1982' },
  bully: {
    text: '(k+1)² + N − 2, with k live ones above the caller', reference: 'Garcia-Molina, 1982',
    messages: (s) => s.leaderIsDead ? (s.above + 1) ** 2 + s.count - 2 : undefined,
  },
  'bully-modified': {
    text: '2k + N, with k live ones above the caller', reference: 'the modified bully',
    messages: (s) => s.leaderIsDead && s.above > 0 ? 2 * s.above + s.count : undefined,
  },
  invitation: { text: '2 (N − 1), if one leader gathers all', reference: 'Garcia-Molina, 1982' },
  'next-in-line': { text: '(a + 1) + N − 2, if the a-th alternative is the first alive', reference: 'lecture notes on elections' },
  'candidate-ordinary': { text: 'C + A + N − 2: C candidates asked, A of them alive', reference: 'lecture notes on elections' },
  paxos: { text: '5 (N − 1), if nobody competes', reference: 'Lamport, 1998' },
  raft: { text: '2 (N − 1) for the votes, as many for a pre-vote', reference: 'Ongaro, 2014' },
};

/** The situation of the run, if it is one that formulas are made for. */
function situationOf(run: Run): Situation | undefined {
  const r = run.records, members = run.about.members;
  const callers: number[] = [], dead = new Set<number>();
  for (let i = 1; i <= run.count; i++) {
    const what = r.what(i);
    if (what === What.campaigned) callers.push(r.node(i));
    else if (what === What.crashed && r.time(i) === 0) dead.add(r.node(i));
    else if ((what >= What.crashed && what <= What.healed) || what === What.suspected || what === What.copied) return undefined;
    else if (what === What.dropped && !dead.has(r.node(i))) return undefined;
  }
  if (callers.length !== 1) return undefined;
  const rank = (node: number) => BigInt(members[node - 1].attribute) * (1n << 64n) + BigInt(members[node - 1].id);
  const ranked = members.map((_, i) => i + 1).sort((a, b) => rank(a) < rank(b) ? 1 : -1);
  if (dead.size > 1 || (dead.size === 1 && !dead.has(ranked[0]))) return undefined;
  const caller = callers[0], count = run.nodes;
  return {
    count, leaderIsDead: dead.size === 1,
    hops: (ranked[0] - caller + count) % count,
    above: ranked.indexOf(caller) - dead.size,
  };
}

export interface Prediction { text: string; reference: string; messages: number | undefined }

export function predict(run: Run): Prediction | undefined {
  const formula = formulas[run.about.algorithm];
  if (!formula) return undefined;
  const situation = situationOf(run);
  return { text: formula.text, reference: formula.reference, messages: situation && formula.messages?.(situation) };
}
