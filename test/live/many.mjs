// What the live page does with 100,000 groups: the agent searches and pages, and the browser is not flooded when all change at once.
import { expect, until } from './bench.mjs';

const MANY = 100_000, CHANGES_A_SECOND = 50, FOR_MANY_MS = 150_000;

/** Counts the events that the browser is sent. */
async function countEvents(live) {
  const session = await live.page.context().newCDPSession(live.page), sent = { changes: 0, many: 0 };
  await session.send('Network.enable');
  session.on('Network.eventSourceMessageReceived', ({ eventName }) => {
    sent[eventName === 'many' ? 'many' : 'changes']++;
  });
  return sent;
}

/** They stand for the next test, too. */
async function standForAll(cluster) {
  const groups = Array.from({ length: MANY }, (_, i) => `tenant/${String(i).padStart(5, '0')}`);
  if (!cluster.runs('b-many')) await cluster.standForMany('b', groups);
  for (const name of ['b', 'c']) await until(async () => (await cluster.get(name, '/overview'))?.groups.led >= MANY, `${name} knows all leaders`, FOR_MANY_MS);
}

export const many = {
  async pages_and_searches_many_groups(browser, cluster) {
    await standForAll(cluster);
    const live = await browser.open(cluster.origin('b'));
    await live.says('#group-count', /^100,0\d\d/);
    await live.page.fill('#search-text', 'tenant/0449');
    await live.says('#range', /^1 to 10 of 10 found/, 'a search that takes many requests');
    expect(await live.page.locator('#group-rows tr').count(), 10, 'rows');
    await live.page.fill('#search-text', '');
    await live.says('#range', /^1 to 15 of 100,0/);
    expect(await live.page.evaluate(() => document.querySelectorAll('*').length) < 1000, true, 'the browser holds one page');
    await live.shot('many');
    await live.finish();
  },

  // The client that stands for them is gone: all of them lose their leader within moments.
  async is_not_flooded_when_all_lose_their_leader(browser, cluster) {
    await standForAll(cluster);
    const pages = await Promise.all(['b', 'c'].map((name) => browser.open(cluster.origin(name))));
    for (const live of pages) await live.says('#pulse', /Live/);
    const sent = await Promise.all(pages.map(countEvents)), began = Date.now();
    await cluster.kill('b-many');
    for (const live of pages) await until(async () => /100,\d{3} groups have no leader/.test(await live.text('#warning-list')), 'the page knows that all are without a leader', FOR_MANY_MS);
    for (const live of pages) await live.says('#group-rows', /✕ nobody/);
    const seconds = (Date.now() - began) / 1000;
    sent.forEach(({ changes, many: floods }, i) => {
      console.log(`      page of ${'bc'[i]}: ${changes} changes and ${floods} times many in ${seconds.toFixed(1)} s, for ${MANY} groups`);
      expect(floods > 0, true, 'the page is told that there were more');
      expect(changes <= CHANGES_A_SECOND * (seconds + 2), true, `at most ${CHANGES_A_SECOND} changes a second`);
    });
    for (const live of pages) await live.says('#changes', /More than 50 changes in a second/);
    await pages[0].shot('flood', true);
    for (const live of pages) await live.finish();
  },
};
