// Every control that the tests of tasks and of whole stories do not touch. Each test is a sentence.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { exportAs, message, scratch, script } from './browser.mjs';
import { expect, expectMatch } from './bench.mjs';

const elector = process.env.ELECTOR;
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
const copied = (page) => page.evaluate(() => navigator.clipboard.readText());

async function dragAcross(page) {
  const box = await page.locator('.stage').boundingBox();
  await page.mouse.move(box.x + box.width * 0.30, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.42, box.y + box.height * 0.5, { steps: 5 });
  await page.mouse.move(box.x + box.width * 0.55, box.y + box.height - 20, { steps: 5 });
  await page.mouse.up();
}

export const controls = {
  async each_key_does_what_help_says(browser) {
    const page = await browser.open('#story=split-brain/bully');
    await page.click('#help');
    const told = await page.textContent('.menu');
    for (const key of ['Space', '←', 'Home', 'L', 'V', 'W', 'Ctrl', 'Esc']) expect(told.includes(key), true, `help tells of ${key}`);
    await page.keyboard.press('Escape');
    expect(await page.locator('.menu').count(), 0, 'menus after Escape');
    await page.click('#caption');
    await page.keyboard.press('l');
    const { leaders, violated } = await page.probe();
    expect([leaders.length > 0, violated], [true, 0], 'L: a leader');
    await page.keyboard.press('v');
    expect((await page.probe()).violated !== 0, true, 'V: a violation');
    await page.keyboard.press('w');
    expectMatch(await page.textContent('.menu h2'), /How it came to this/, 'W');
    const steps = await page.locator('.menu ol button').count(), { cursor } = await page.probe();
    if (steps < 2) throw new Error(`W shows ${steps} steps`);
    await page.click('.menu ol button >> nth=0');
    expect((await page.probe()).cursor < cursor, true, 'a click on a cause goes there');
    const before = await script(page);
    await page.click('[aria-label^="Node 1:"]');
    await page.click('.menu >> text="Crash"');
    expectMatch(await script(page), /^crash 1@/m, 'a deed');
    await page.click('#caption');
    await page.keyboard.press('Control+z');
    expect(await script(page), before, 'Ctrl Z');
    await page.keyboard.press('Control+Shift+z');
    expectMatch(await script(page), /^crash 1@/m, 'Ctrl Shift Z');
    await page.finish();
  },

  async a_line_across_the_stage_parts_it_and_the_script_heals_it(browser) {
    const page = await browser.open('#story=raft/first-election&at=600');
    await dragAcross(page);
    expectMatch(await script(page), /^partition [\d,]+\|[\d,]+@\d/m, 'the partition');
    await page.click('#forward');
    await page.click('#tab-script');
    await page.click('#heal');
    expectMatch(await script(page), /^partition [\d,]+\|[\d,]+@[\d.]+(ms)?\.\.[\d.]+/m, 'its end');
    expect(await page.isDisabled('#heal'), true, 'nothing is left to heal');
    await page.finish();
  },

  async a_leader_resigns_a_link_is_cut_both_ways_and_a_node_calls(browser) {
    let page = await browser.open('#story=raft/first-election&at=600');
    const [leader] = (await page.probe()).leaders;
    await page.click(`[aria-label^="Node ${leader}:"]`);
    await page.click('.menu >> text="Resign"');
    expectMatch(await script(page), new RegExp(`^resign ${leader}@`, 'm'), 'resign');
    await page.finish();
    page = await browser.open('#story=bully/3-notices-6&at=20');
    await page.click('[aria-label^="Node 2:"]');
    await page.click('.menu >> text="Call an election"');
    expectMatch(await script(page), /^initiator 2@/m, 'call');
    const middle = await page.evaluate(() => {
      const center = (id) => { const b = document.querySelector(`[aria-label^="Node ${id}:"]`).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };
      return [0, 1].map((axis) => (center(1)[axis] + center(2)[axis]) / 2);
    });
    await page.mouse.click(...middle);
    await page.click('.menu >> text="Cut both ways"');
    expectMatch(await script(page), /^cut 1>2@.*\ncut 2>1@|^cut 2>1@.*\ncut 1>2@/m, 'both ways');
    await page.finish();
  },

  async undo_goes_back_over_stories_links_and_files(browser) {
    const page = await browser.open('#story=raft/crash'), first = await script(page);
    writeFileSync(scratch('own.scenario'), 'algorithm bully\nnodes 4\ninitiator 1\n');
    await page.fill('.stories input', 'split vote');
    await page.click('[data-story="raft/split-vote"]');
    const second = await script(page);
    await page.setInputFiles('#file', scratch('own.scenario'));
    await page.waitForFunction(() => window.lab.probe().count === 4);
    await page.evaluate(() => { location.hash = '#story=ring/six-n3-starts'; });
    await page.waitForFunction(() => window.lab.probe().count === 6 && /ids 3,32/.test(window.lab.probe().text));
    await page.click('#tab-script');
    for (const [what, text] of [['the file', readFileSync(scratch('own.scenario'), 'utf8')], ['the second story', second], ['the first', first]]) {
      await page.click('#undo');
      expect(await script(page), text, `undone to ${what}`);
    }
    await page.finish();
  },

  async a_broken_link_or_file_loses_no_work(browser) {
    const page = await browser.open('#story=raft/crash&at=100');
    await page.click('[aria-label^="Node 2:"]');
    await page.click('.menu >> text="Crash"');
    await page.click('#tab-script');
    await page.click('#undo');
    const before = await page.probe();
    await page.fill('#script-text', `${before.text}# my own words\n`);
    for (const [fragment, pattern] of [['#story=none', /there is no story 'none'.*as it was/], ['#sotry=x', /'sotry' is none of.*as it was/],
      ['#scenario=algorithm+raft%0Anodes+many', /permalink:2:7: nodes/], ['#scenario=algorithm+raft%0Anodes+0&compare=bully&embed', /permalink:2:7/], ['#story=raft/crash&compare=rafft', /no algorithm 'rafft'/]]) {
      await page.evaluate((hash) => { location.hash = hash; }, fragment);
      await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#message span').textContent), pattern.source)
        .catch(async () => { throw new Error(`${fragment}: '${await message(page)}' does not match ${pattern}`); });
    }
    await page.setInputFiles('#file', { name: 'wrong.scenario', mimeType: 'text/plain', buffer: Buffer.from('algorithm bully\nnodes -1\n') });
    await page.waitForFunction(() => /wrong\.scenario:2/.test(document.querySelector('#message span').textContent));
    const after = await page.probe();
    expect([after.text, after.hash, after.time, after.panes], [before.text, before.hash, before.time, 1], 'the run goes on as it was');
    expect(await page.isVisible('.bar'), true, 'a link that fails does not hide the panels');
    expectMatch(await page.inputValue('#script-text'), /# my own words/, 'what was typed');
    await page.click('#redo');
    expectMatch(await script(page), /^crash 2@/m, 'what was undone can be done again');
    await page.finish();
  },

  async a_trace_is_a_record(browser) {
    const page = await browser.open('#story=raft/crash', clipboard), trace = scratch('record.jsonl');
    execFileSync(elector, ['sim', 'bully', '--nodes', '5', '--initiator', '1', '--quiet', '--trace', trace]);
    await page.setInputFiles('#file', trace);
    await page.waitForFunction(() => window.lab.probe().count === 5);
    await page.selectOption('#compare', 'raft');
    expectMatch(await message(page), /nothing can be run beside it/, 'compare');
    expect([await page.inputValue('#compare'), (await page.probe()).panes], ['', 1], 'one run');
    await page.click('#share');
    expectMatch(await message(page), /too long for a link/, 'share');
    await page.click('#export');
    await page.click('.menu >> text="Copy <iframe> for a slide"');
    expectMatch(await message(page), /too long for a link/, 'iframe');
    await page.click('#tab-script');
    expect(await page.isDisabled('#save'), true, 'save');
    expect(readFileSync(await exportAs(page, 'Trace (JSON Lines)', 'again.jsonl'), 'utf8').split('\n').length, readFileSync(trace, 'utf8').split('\n').length, 'records exported');
    await page.click('#undo');
    expectMatch(await script(page), /algorithm raft/, 'undo goes back to the story');
    await page.finish();
  },

  async a_recording_says_how_it_becomes_a_page(browser) {
    const page = await browser.open('#story=raft/crash'), before = await page.probe();
    await page.setInputFiles('#file', { name: 'elector.state.flight', mimeType: 'application/octet-stream', buffer: Buffer.concat([Buffer.from('elflight'), Buffer.alloc(4000, 0xff)]) });
    await page.waitForFunction(() => /elector replay --output page/.test(document.querySelector('#message span').textContent));
    expect((await page.probe()).hash, before.hash, 'the run goes on as it was');
    await page.finish();
  },

  async other_exports_are_those_of_the_program_too(browser) {
    const page = await browser.open('#story=bully/3-notices-6', clipboard), path = 'scenarios/bully/3-notices-6.scenario';
    for (const [label, option] of [['Trace (JSON Lines)', '--trace'], ['Mermaid', '--mermaid'], ['ShiViz log', '--shiviz']]) {
      const ours = scratch(`ours${option}`);
      execFileSync(elector, ['sim', path, '--quiet', option, ours]);
      expect(readFileSync(await exportAs(page, label, `page${option}`), 'utf8') === readFileSync(ours, 'utf8'), true, `${label} as of ${option}`);
    }
    await page.click('#export');
    await page.click('.menu >> text="Copy <iframe> for a slide"');
    const frame = await copied(page);
    expectMatch(frame, /^<iframe src="file:.*#story=bully\/3-notices-6&embed" width="960" height="640"><\/iframe>$/, 'the iframe');
    await page.finish();
    const slide = await browser.open(/#[^"]*/.exec(frame)[0]);
    expect([await slide.isVisible('.bar'), await slide.isVisible('#play')], [false, true], 'bar, play');
    await slide.finish();
  },

  async every_scenario_is_in_a_group_with_a_title(browser) {
    const page = await browser.open();
    const files = readdirSync('scenarios', { recursive: true }).filter((name) => name.endsWith('.scenario')).map((name) => name.replace(/\.scenario$/, '')).sort();
    expect((await page.$$eval('[data-story]', (all) => all.map((each) => each.dataset.story))).sort(), files, 'stories');
    const untitled = await page.$$eval('.stories details:has([data-story])', (all) => all.filter((each) => {
      const folder = each.querySelector('[data-story]').dataset.story.split('/')[0], title = each.querySelector('summary').firstChild.textContent;
      return title.toLowerCase() === folder.replace(/-/g, ' ') && !['paxos', 'raft', 'ranks'].includes(folder) && folder !== 'split-brain';
    }).map((each) => each.querySelector('summary').textContent));
    expect(untitled, [], 'groups that nobody has given a title');
    await page.finish();
  },

  async the_theme_is_kept(browser) {
    const page = await browser.open('', { colorScheme: 'light' });
    await page.click('#theme');
    await page.reload();
    await page.waitForSelector('html[data-ready=yes]');
    expect(await page.getAttribute('html', 'data-theme'), 'dark', 'the theme after loading again');
    await page.finish();
  },

  async two_runs_have_one_clock(browser) {
    const page = await browser.open('#story=ring/six-n3-starts&compare=ring-collect&at=3');
    expect((await page.probe()).panes, 2, 'two runs');
    expectMatch(await page.caption(), /ring-collect:/, 'the caption tells of both');
    await page.click('#last');
    await page.click('#back');
    await page.click('#forward');
    const facts = await page.$$eval('.facts .counts p:first-child', (all) => all.map((each) => each.textContent));
    expectMatch(facts[0], /^15 of 15 messages/, 'the first');
    expectMatch(facts[1], /^(\d+) of \1 messages/, 'the second is at its end, too');
    await page.finish();
  },
};
