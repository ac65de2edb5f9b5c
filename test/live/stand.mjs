// Candidates for the group `work`, which most tests look at.
import { until } from './bench.mjs';

const NAMES = ['a', 'b', 'c'];

/** Candidates at all three members, so that somebody is there to take over. Returns who leads. */
export async function stand(cluster) {
  for (const name of NAMES) if (!cluster.runs(`${name}-work`)) cluster.campaign(name, 'work', `${name}:9000`);
  await until(async () => (await cluster.get('a', '/groups?search=work'))?.groups[0]?.standing.length === 3, 'all stand');
  return until(async () => {
    const leaders = await Promise.all(NAMES.map((name) => cluster.leader(name, 'work')));
    return leaders.every((leader) => leader === leaders[0]) && leaders[0];
  }, 'all know the same leader');
}

export async function standAgain(cluster, name) {
  await cluster.kill(`${name}-work`);
  return stand(cluster);
}

export const other = (...names) => NAMES.find((name) => !names.includes(name));
