// The picture of docs/operations.md: a cluster in which the leader of billing was killed a moment ago.
import { writeFileSync } from 'node:fs';
import { until } from './bench.mjs';
import { withPalette } from '../page/png.mjs';

export async function takePictures(browser, cluster) {
  const groups = ['billing', 'nightly', 'search', 'shop:cart', 'shop:mail'];
  for (const [i, group] of groups.entries()) {
    for (let j = 0; j < 3; j++) {
      const name = 'abc'[(i + j) % 3];
      cluster.campaign(name, group, `10.0.0.${(i + j) % 3 + 1}:90${i}0`);
      await until(() => cluster.leader(name, group), `${group} has a leader`);
    }
  }
  const leader = await cluster.leader('b', 'billing');
  await cluster.kill(`${leader}-billing`);
  await until(async () => ![null, undefined, leader].includes(await cluster.leader('b', 'billing')), 'another leads');
  const second = await cluster.leader('b', 'billing');
  const live = await browser.open(cluster.origin('b'), '#group=billing', { viewport: { width: 1360, height: 1120 }, colorScheme: 'light' });
  await live.says('#pulse', /Live/);
  await cluster.kill(`${second}-billing`);
  await live.says('#changes', /billing is led by/);
  await live.says('#before', /Before, .* led with token/);
  await live.says('#failovers', /failover/);
  const path = 'docs/pictures/live.png';
  writeFileSync(path, withPalette(await live.page.screenshot()));
  await live.finish();
  console.log(path);
}
