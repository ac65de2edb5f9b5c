// Candidates for the group `work`, which most tests look at.
import { until } from './bench.mjs';

const NAMES = ['a', 'b', 'c'];

/** Candidates at all three members, so that somebody is there to take over. Returns who leads. */
export async function stand(cluster) {
  for (const name of NAMES) if (!cluster.runs(`${name}-work`)) cluster.campaign(name, 'work', `${name}:9000`);
  for (const name of NAMES) await until(() => cluster.leader(name, 'work'), `${name} knows a leader`);
  await until(async () => (await cluster.get('a', '/groups?search=work'))?.groups[0]?.standing.length === 3, 'all stand');
  return cluster.leader('a', 'work');
}

export async function standAgain(cluster, name) {
  await cluster.kill(`${name}-work`);
  return stand(cluster);
}

export const other = (...names) => NAMES.find((name) => !names.includes(name));
