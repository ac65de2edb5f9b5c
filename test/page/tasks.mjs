// What a first-time user wants, done with what is on the screen and nothing else: four tasks, as few clicks each as the page allows.
import { join } from 'node:path';
import { expect, expectMatch, shots } from './bench.mjs';

/** What a hand does. At five seconds each, so many are a minute. */
const actsMax = 12;

async function begin(browser, fragment = '') {
  const page = await browser.open(fragment), { finish } = page;
  await page.evaluate(() => {
    window.acts = 0;
    for (const type of ['pointerdown', 'change', 'keydown']) document.addEventListener(type, () => { window.acts++; }, true);
  });
  page.finish = async () => {
    const acts = await page.evaluate(() => window.acts);
    if (acts < 2 || acts > actsMax) page.problems.push(`${acts} acts of a hand, not 2 to ${actsMax}`);
    await finish();
  };
  return page;
}

const enter = async (page, field, value) => { await page.fill(field, value); await page.press(field, 'Tab'); };

export const tasks = {
  async task_1_chang_roberts_on_the_ring_of_the_lectures_from_3(browser) {
    const page = await begin(browser, '#story=raft/crash'); // from somewhere else
    await page.click('text="Set up"');
    await page.getByLabel('Algorithm').selectOption('chang-roberts');
    await enter(page, '#set-ids', '3,32,5,80,6,12');
    await enter(page, '#set-initiator', '3');
    await page.click('#last');
    const probe = await page.probe();
    expect(probe.leaders, ['80'], 'leader');
    expectMatch(await page.read('.facts'), /15 of 15 messages/, 'messages');
    await page.screenshot({ path: join(shots, 'task-1.png') });
    await page.finish();
  },

  async task_2_bully_splits_its_brain(browser) {
    const page = await begin(browser);
    await page.click('text="Set up"');
    await page.getByLabel('Algorithm').selectOption('bully');
    await enter(page, '#nodes', '5');
    await enter(page, '#set-initiator', '1');
    await page.click('text="Next leader"');
    expect((await page.probe()).leaders, ['5'], 'one leader');
    const box = await page.locator('.stage').boundingBox();
    await page.mouse.move(box.x + box.width * 0.30, box.y + 20); // a line from the top to the bottom, left of the middle
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.42, box.y + box.height * 0.5, { steps: 5 });
    await page.mouse.move(box.x + box.width * 0.55, box.y + box.height - 20, { steps: 5 });
    await page.mouse.up();
    await page.click('text="Next violation"');
    expect((await page.probe()).leaders.length, 2, 'two leaders');
    expectMatch(await page.read('.lights'), /one leader at a time: broken/, 'the light');
    expectMatch(await page.caption(), /lead at the same time/, 'the caption');
    await page.screenshot({ path: join(shots, 'task-2.png') });
    await page.finish();
  },

  async task_3_why_a_dead_leaders_claim_circulates_for_ever(browser) {
    const page = await begin(browser);
    await page.getByPlaceholder('Find a story').fill('for ever');
    await page.click('text="Claim circulates for ever"');
    await page.click('text="Next violation"');
    expectMatch(await page.caption(), /endless/i, 'the caption');
    expectMatch(await page.textContent('.about-story'), /nobody else may take the claim off the ring/, 'the story says why');
    await page.click('text="Why?"');
    const causes = await page.$$eval('.menu ol li', (all) => all.map((each) => each.textContent));
    expectMatch(causes[0], /\d+ calls an election/, 'the first cause');
    expectMatch(causes.join('; '), /sends Election (\d+) .*hears Election \1 /, 'the claim that goes round');
    await page.keyboard.press('Escape');
    await page.screenshot({ path: join(shots, 'task-3.png') });
    await page.finish();
  },

  async task_4_hand_over_of_raft_beside_quorum(browser) {
    const page = await begin(browser);
    await page.getByPlaceholder('Find a story').fill('raft transfer');
    await page.click('[data-story="raft/transfer"]');
    await page.getByLabel('Compare with').selectOption('quorum');
    await page.click('text="Next leader"');
    const probe = await page.probe();
    expect(probe.panes, 2, 'two runs');
    expect(probe.leaders, ['3'], 'raft’s new leader');
    await page.read('.facts');
    const facts = await page.$$eval('.facts', (all) => all.map((each) => each.textContent));
    expectMatch(facts[0], /1 T without a leader/, 'raft');
    expectMatch(facts[1], /1 T without a leader/, 'quorum');
    await page.screenshot({ path: join(shots, 'task-4.png') });
    await page.finish();
  },
};
