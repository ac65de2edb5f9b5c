// What a story is called, from the name of its file.

/** The figures of the lectures and of Petrov, Database Internals, chapter 10. docs/seeds.md names their sources. */
export const figures: readonly (readonly [story: string, title: string])[] = [
  ['ring/six-n3-starts', 'Lectures: a ring, 3 starts'],
  ['ring/six-best', 'Lectures: a ring, best case'],
  ['ring/six-worst', 'Lectures: a ring, worst case'],
  ['ring/two-initiators-chang-roberts', 'Lectures: a ring, two callers'],
  ['ring/claim-circulates-for-ever', 'Lectures: a dead leader’s claim'],
  ['bully/p2-notices-p5', 'Lectures: bully, P2 notices'],
  ['bully/best-case', 'Lectures: bully, best case'],
  ['bully/worst-case', 'Lectures: bully, worst case'],
  ['bully/p4-fails-after-step-3', 'Lectures: the next leader fails, too'],
  ['bully/3-notices-6', 'Figure 10-1: the bully'],
  ['mesh/next-in-line-5-4', 'Figure 10-2: next in line'],
  ['mesh/candidate-ordinary-4-notices-6', 'Figure 10-3: candidates, ordinary ones'],
  ['mesh/invitation-merges-four-groups', 'Figure 10-4: invitation'],
  ['ring/collect-6-skipped', 'Figure 10-5: a ring that collects'],
  ['split-brain/ring', 'Petrov: a split brain'],
];

/** Names and abbreviations, as people write them. */
const written: readonly (readonly [RegExp, string])[] = [
  [/\bhirschberg sinclair\b/, 'Hirschberg-Sinclair:'], [/\bitai rodeh\b/, 'Itai-Rodeh:'], [/\blelann\b/, 'Le Lann:'], [/\bpeterson\b/, 'Peterson:'],
  [/^multi paxos\b/, 'Multi-Paxos:'], [/^paxos lease\b/, 'Leases by Paxos:'], [/^candidate ordinary\b/, 'Candidates:'], [/^next in line\b/, 'Next in line:'],
  [/^invitation\b/, 'Invitation:'], [/^multicast\b/, 'Multicast:'], [/^stable\b/, 'Stable:'], [/^etcd\b/, 'etcd:'], [/^zookeeper\b/, 'ZooKeeper:'],
  [/^kubernetes 15 10 2\b/, 'Kubernetes: 15 s, 10 s, 2 s'], [/^kubernetes client go\b/, 'Kubernetes: client-go'], [/^kubernetes(?=[ ])(?!:)/, 'Kubernetes:'],
  [/^modified\b/, 'Modified:'], [/^initiator many\b/, 'Many callers'], [/^initiator\b/, 'Many callers:'], [/^collect\b/, 'Collecting:'], [/^max\b/, 'Maximum:'], [/^obituary of/, 'Obituary of'],
  [/^x(\d+) /, 'X$1: '], [/\b([pP]?\d) notices (p?\d)\b/, '$1 notices that $2 is dead'], [/\bsix n(\d+)\b/, 'six nodes, $1'], [/^six\b(?! nodes)/, 'six nodes,'],
  [/ serial$/, ', one message after the other'], [/\b([pn])(\d)\b/g, 'P$2'], [/\bphi\b/, 'φ'], [/\bswim\b/, 'SWIM'],
];

export function words(name: string): string {
  const text = written.reduce((made, [from, to]) => made.replace(from, to), name.replace(/^.*\//, '').replace(/-/g, ' ')).replace(/:$/, '');
  return /^etcd/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
