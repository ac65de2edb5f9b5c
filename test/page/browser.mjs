// What people do with the page, in a real browser. Each test is a sentence; screenshots are for people to look at.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, expectMatch, shots, until } from './bench.mjs';
import { tasks } from './tasks.mjs';

const elector = process.env.ELECTOR;
export const scratch = (name) => join(process.env.SCRATCH, name);
const axeSource = readFileSync(createRequire(resolve('web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');
export const shot = (page, name) => page.screenshot({ path: join(shots, `${name}.png`) });

export const message = (page) => page.textContent('#message span');
export const script = async (page) => (await page.probe()).text;

/** What a person hears who cannot see, or cannot use a mouse: nothing serious may be wrong. */
export async function hear(page, what) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' ')}`);
  expect(serious, [], `axe, ${what}`);
}

async function save(page, act, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  await download.saveAs(scratch(name));
  return scratch(name);
}

export async function exportAs(page, label, name) {
  await page.click('#export');
  return save(page, () => page.click(`.menu >> text="${label}"`), name);
}

export const browserTests = {
  ...tasks,

  async begins_with_the_ring_of_the_lectures(browser) {
    const page = await browser.open();
    expect((await page.probe()).count, 6, 'nodes');
    expectMatch(await page.textContent('#title'), /Six nodes, 3 starts/, 'title');
    await page.click('#last');
    expectMatch(await page.read('.facts'), /15 of 15 messages.*= 15, as counted/s, 'counts beside the formula');
    await shot(page, 'begin');
    await page.finish();
  },

  async every_control_of_time_works(browser) {
    const page = await browser.open('#story=bully/3-notices-6');
    const start = await page.probe();
    await page.click('#forward');
    await page.keyboard.press('ArrowRight');
    const two = await page.probe();
    if (!(two.cursor > start.cursor)) throw new Error('two steps lead nowhere');
    await page.keyboard.press('ArrowLeft');
    await page.click('#back');
    expect((await page.probe()).hash, start.hash, 'two steps and two steps back');
    await page.click('#caption');
    await page.keyboard.press('End');
    const end = await page.probe();
    expect(end.cursor, end.records, 'End');
    await page.keyboard.press('Home');
    expect((await page.probe()).cursor, 0, 'Home');
    await page.click('#caption');
    await page.keyboard.press(' ');
    await until(page, (probe) => probe.playing && probe.cursor > 0, 'space plays');
    await page.keyboard.press(' ');
    const held = await page.probe();
    expect(held.playing, false, 'space pauses');
    await page.selectOption('#speed', '10');
    await page.click('#play');
    await until(page, (probe) => !probe.playing && probe.cursor === probe.records, 'it plays to its end');
    await page.fill('#slider', '50000');
    const middle = await page.probe();
    if (!(middle.time > 0 && middle.time < end.time)) throw new Error('the slider does not move time');
    await page.click('#first');
    await page.click('#next-leader');
    expect((await page.probe()).leaders, ['5'], 'the next leader');
    await page.click('#next-violation');
    expectMatch(await message(page), /No further violation/, 'no violation');
    await page.mouse.click(1000, 300);
    await page.finish();
  },

  async a_thousand_steps_back_and_forth_end_in_the_same_state(browser) {
    const page = await browser.open('#story=raft/split-vote');
    const hashes = await page.evaluate(() => {
      const press = (id, times) => { for (let i = 0; i < times; i++) document.getElementById(id).click(); };
      press('forward', 8);
      const before = window.lab.probe().hash;
      for (let i = 0; i < 100; i++) { press('forward', 5); press('back', 5); }
      return [before, window.lab.probe().hash];
    });
    expect(hashes[1], hashes[0], 'the state after a thousand steps');
    await page.finish();
  },

  async every_story_can_be_chosen_and_its_end_is_what_the_program_says(browser) {
    const page = await browser.open();
    const names = await page.$$eval('[data-story]', (all) => all.map((each) => each.dataset.story));
    if (names.length < 170) throw new Error(`only ${names.length} stories`);
    const wrong = await page.evaluate(async (all) => {
      const failed = [];
      let rows = 0;
      for (const name of all) {
        document.querySelector(`[data-story="${name}"]`).click();
        document.getElementById('last').click();
        await new Promise((done) => requestAnimationFrame(done));
        const probe = window.lab.probe();
        if (probe.cursor !== probe.records || probe.records === 0) failed.push(name);
        // The program's own table of what nodes believe: "    2, 3, 4    electing  nobody    1".
        for (const [, ids, role, leader, term] of window.lab.transcript('story', probe.text).matchAll(/^ {4}(\d[\d, ]*?),?(?: …)? {2,}(leader|follower|electing|idle|dead)\b(?: +(\w+)(?:, dead)? +(\d+))?$/gm)) {
          for (const id of ids.split(', ')) {
            rows++;
            const told = role === 'dead' ? `${id} dead` : `${id} ${role} ${leader} ${term}`;
            if (!probe.views.includes(told)) failed.push(`${name}: the program says ${told}, the stage ${probe.views.find((each) => each.startsWith(`${id} `))}`);
          }
        }
        const caption = document.getElementById('caption').textContent;
        if (!/^(✕ )?[A-Z0-9]/.test(caption)) failed.push(`${name}: the caption begins small: ${caption.slice(0, 60)}`);
      }
      return rows < 100 ? [`only ${rows} lines of tables`] : failed.slice(0, 8);
    }, names);
    expect(wrong, [], 'stories that do not play, or end otherwise');
    await page.evaluate(() => { window.shifts.unasked = 0; }); // groups were opened by a script, not by a hand
    await page.finish();
  },

  async a_node_that_stands_is_shown_so_and_one_that_leads_from_the_start(browser) {
    const page = await browser.open('#story=raft/first-election');
    for (let i = 0; i < 20 && !/sends PreVote/.test(await page.caption()); i++) await page.click('#forward');
    const [, stands] = /(\d+) sends PreVote/.exec(await page.caption());
    expectMatch(await page.getAttribute(`[aria-label^="Node ${stands}:"]`, 'aria-label'), /: electing/, 'who asks for votes');
    for (let i = 0; i < 20 && !/sends Vote/.test(await page.caption()); i++) await page.click('#forward');
    for (let i = 0; i < 5; i++) await page.click('#forward');
    const terms = (await page.probe()).views.map((view) => view.split(' ').pop());
    expect(terms.filter((term) => term === '1').length > 1, true, `voters have heard of term 1: ${terms}`);
    await page.evaluate(() => { location.hash = '#story=mesh/invitation-merges-four-groups'; });
    await until(page, (probe) => probe.count === 4, 'the invitation');
    expect((await page.probe()).leaders, ['1', '2', '3', '4'], 'each leads its own group');
    await page.click('#first');
    expectMatch(await page.caption(), /Each leads a group of its own/, 'the caption');
    await page.click('#next-leader');
    expect((await page.probe()).cursor > 0, true, 'a leader of a larger group');
    await page.click('#last');
    expect((await page.probe()).leaders, ['1'], 'one leads them all');
    await page.finish();
  },

  async a_story_is_found_by_a_word(browser) {
    const page = await browser.open();
    await page.fill('.stories input', 'split vote');
    expect(await page.locator('[data-story]:visible').count() > 0, true, 'stories found');
    await page.click('[data-story="raft/split-vote"]');
    expectMatch(await page.textContent('#title'), /Raft: Split vote/, 'title');
    await page.finish();
  },

  async a_crash_changes_the_future_and_not_the_past(browser) {
    const page = await browser.open('#story=ring/six-n3-starts&at=3');
    const before = await page.probe();
    await page.click('[aria-label^="Node 80:"]');
    await shot(page, 'node-menu');
    await page.click('.menu >> text="Crash"');
    expectMatch(await script(page), /^crash 80@3\.5$/m, 'the script, between two events');
    await page.evaluate((time) => window.lab.seek(time), before.time);
    const past = await page.probe();
    expect(past.cursor, before.cursor, 'the place in the past');
    expect([past.leaders, past.flight], [before.leaders, before.flight], 'the past');
    await page.click('#last');
    expectMatch(await page.read('.facts'), /comes to rest: broken/, 'a dead process’ claim circulates');
    await page.click('#tab-script');
    await page.click('#undo');
    expect(/crash/.test(await script(page)), false, 'undone');
    await page.click('#redo');
    expect(/crash/.test(await script(page)), true, 'done again');
    await page.finish();
  },

  async every_deed_on_a_node_is_a_line_of_the_script(browser) {
    const page = await browser.open('#story=raft/first-election&at=600');
    const [leader] = (await page.probe()).leaders;
    const other = leader === '1' ? '2' : '1';
    const menu = (id) => page.click(`[aria-label^="Node ${id}:"]`);
    await menu(other);
    await page.click('.menu >> text="Hand leadership over to it"');
    expectMatch(await script(page), new RegExp(`^transfer ${other}@`, 'm'), 'transfer');
    await menu(other);
    await page.click('.menu >> text="Pause"');
    expectMatch(await script(page), new RegExp(`^pause ${other}@.*\\.\\.`, 'm'), 'pause');
    await menu(other);
    await page.click('.menu >> text="Let it go on"');
    expectMatch(await script(page), new RegExp(`^pause ${other}@`, 'm'), 'the pause has an end');
    await menu(other);
    await page.fill('.menu label:has-text("jumps") input', '-2');
    await page.click('.menu >> text="Jump"');
    expectMatch(await script(page), new RegExp(`^jump ${other}@.*=-2$`, 'm'), 'jump');
    await menu(other);
    await page.fill('.menu label:has-text("runs at") input', '1.01');
    await page.click('.menu form:has-text("runs at") button');
    expectMatch(await script(page), new RegExp(`^clock ${other}=1\\.01$`, 'm'), 'clock');
    await menu(other);
    await page.fill('.menu label:has-text("rank") input', '9');
    await page.click('.menu form:has-text("rank") button');
    expectMatch(await script(page), new RegExp(`^attr ${other}=9$`, 'm'), 'rank');
    await menu(other);
    await page.click('.menu form:has-text("Its link to") button');
    await page.click('.menu >> text="Cut both ways"');
    expectMatch(await script(page), new RegExp(`^cut ${other}>`, 'm'), 'cut');
    await menu(other);
    await page.click('.menu >> text="Crash"');
    await page.click('#forward');
    await menu(other);
    await page.click('.menu >> text="Restart it"');
    expectMatch(await script(page), new RegExp(`^restart ${other}@`, 'm'), 'restart');
    const path = await (async () => { await page.click('#tab-script'); return save(page, () => page.click('#save'), 'deeds.scenario'); })();
    const { status, stdout, stderr } = spawnSync(elector, ['sim', path], { encoding: 'utf8' });
    expect(status, 0, `elector sim of what was saved: ${stdout.slice(-300)}${stderr}`);
    await page.finish();
  },

  async a_link_is_cut_one_way_and_mended(browser) {
    const page = await browser.open('#story=bully/worst-case&at=1.5');
    const middle = await page.evaluate(() => {
      const center = (id) => { const b = document.querySelector(`[aria-label^="Node ${id}:"]`).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };
      const [a, b] = [center(1), center(2)];
      return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    });
    await page.mouse.click(...middle);
    await page.click('.menu >> text="Cut 1 → 2"');
    expectMatch(await script(page), /^cut 1>2@/m, 'the cut');
    await page.click('#forward');
    await page.mouse.click(...middle);
    await page.click('.menu >> text="Mend 1 → 2"');
    expectMatch(await script(page), /^cut 1>2@[0-9.]+\.\.[0-9.]+$/m, 'the cut has an end');
    await page.mouse.click(...middle);
    await page.fill('.menu form:has-text("Slow 2 → 1") input', '3');
    await page.click('.menu form:has-text("Slow 2 → 1") button');
    expectMatch(await script(page), /^slow 2>1=3@/m, 'the slow link');
    await shot(page, 'slow-link');
    await page.finish();
  },

  async a_permalink_leads_to_the_same_moment_of_the_same_run(browser) {
    const page = await browser.open('#story=ring/six-n3-starts&at=3', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.click('[aria-label^="Node 80:"]');
    await page.click('.menu >> text="Crash"');
    await page.click('#forward');
    await page.click('#share');
    await page.waitForFunction(() => location.hash.includes('scenario='));
    const there = await page.probe(), hash = await page.evaluate(() => location.hash);
    await page.finish();
    const other = await browser.open(hash);
    const here = await other.probe();
    expect([here.text, here.time, here.leaders], [there.text, there.time, there.leaders], 'the run of the permalink');
    await other.finish();
  },

  async mistakes_are_named_and_nothing_is_lost(browser) {
    const broken = [
      ['#sotry=ring/six-best', /permalink: 'sotry' is none of/],
      ['#story=ring/none-such', /permalink: there is no story 'ring\/none-such'/],
      ['#scenario=algorithm+raft%0Anodes%2', /permalink: the value of 'scenario' is damaged at '%2'/],
      ['#scenario=algorithm+raft%0Anodes+many', /permalink:2:7: nodes: expected a whole number/],
      ['#story=raft/crash&compare=rafft', /permalink: there is no algorithm 'rafft'/],
      ['#story=raft/crash&at=soon', /permalink: 'soon' is no time/],
    ];
    for (const [fragment, pattern] of broken) {
      const page = await browser.open(fragment);
      expectMatch(await message(page), pattern, fragment);
      expect((await page.probe()).count, 6, 'the first story is shown instead');
      await page.finish();
    }
    const page = await browser.open('#story=raft/crash&at=100');
    const before = await page.probe();
    await page.click('#tab-script');
    await page.fill('#script-text', `${before.text}crash 99@3\n`);
    await page.click('#run-script');
    expectMatch(await page.textContent('#script .error'), /:\d+:\d+:.*99/, 'the mistake of the script');
    const after = await page.probe();
    expect([after.text, after.hash], [before.text, before.hash], 'the run goes on as it was');
    expectMatch(await page.inputValue('#script-text'), /crash 99@3/, 'what was typed');
    for (const [name, text, pattern] of [
      ['garbage.scenario', '\u0001\u0002 binary', /garbage\.scenario:1:1: this is not text/],
      ['empty.scenario', '', /empty scenario/],
      ['bad.jsonl', '{"what":"run","algorithm":"raft","nodes":[1,2],"unit":"T"}\n{"what":"sent",', /bad\.jsonl:2: this line is no JSON object/],
      ['head.jsonl', '{"what":"sent"}', /head\.jsonl:1: the first line must describe the run/],
      ['node.jsonl', '{"what":"run","algorithm":"raft","nodes":[1,2],"unit":"T"}\n{"record":1,"time":0,"what":"crashed","node":7}', /node\.jsonl:2: there is no node 7/],
    ]) {
      await page.setInputFiles('#file', { name, mimeType: 'text/plain', buffer: Buffer.from(text) });
      await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#message span').textContent), pattern.source)
        .catch(async () => { throw new Error(`${name}: '${await message(page)}' does not match ${pattern}`); });
      expect((await page.probe()).hash, before.hash, `${name}: the run goes on as it was`);
    }
    await page.finish();
  },

  async a_counterexample_and_a_trace_can_be_opened(browser) {
    const counterexample = scratch('found.scenario'), trace = scratch('run.jsonl');
    spawnSync(elector, ['check', 'chang-roberts', '--nodes', '3', '--crash', '1', '--detect', 'off', '--property', 'rests', '--scenario', counterexample]);
    execFileSync(elector, ['sim', 'raft', '--nodes', '5', '--leader', '5', '--crash', 'leader@500', '--quiet', '--trace', trace]);
    const page = await browser.open();
    await page.setInputFiles('#file', counterexample);
    await until(page, (probe) => /step loop/.test(probe.text), 'the counterexample is shown');
    await page.click('#next-violation');
    expectMatch(await page.caption(), /endless/i, 'its violation');
    await page.setInputFiles('#file', trace);
    const lines = readFileSync(trace, 'utf8').trimEnd().split('\n').length - 1;
    await until(page, (probe) => probe.records === lines && probe.count === 5, 'the trace is shown');
    await page.click('#next-leader');
    expectMatch(await page.caption(), /LEADS/, 'its leader');
    await page.click('#why');
    expectMatch(await page.textContent('.menu'), /stands|vote|timer/i, 'why');
    await page.keyboard.press('Escape');
    await page.finish();
  },

  async exports_are_those_of_the_program(browser) {
    const page = await browser.open('#story=bully/3-notices-6');
    const path = 'scenarios/bully/3-notices-6.scenario', svg = scratch('ours.svg');
    execFileSync(elector, ['sim', path, '--quiet', '--svg', svg]);
    expect(readFileSync(await exportAs(page, 'Diagram as SVG', 'page.svg'), 'utf8') === readFileSync(svg, 'utf8'), true, 'SVG as of --svg');
    const transcript = readFileSync(await exportAs(page, 'Transcript', 'page.txt'), 'utf8');
    expect(transcript === readFileSync('scenarios/golden/bully/3-notices-6.txt', 'utf8'), true, 'transcript as the golden one');
    const png = readFileSync(await exportAs(page, 'Diagram as PNG', 'page.png'));
    expect(png.subarray(1, 4).toString(), 'PNG', 'the picture');
    await page.finish();
  },

  async settings_make_a_run(browser) {
    const page = await browser.open();
    await page.click('#tab-setup');
    const set = async (field, value) => { await page.fill(field, value); await page.press(field, 'Tab'); };
    await page.selectOption('#algorithm', 'bully');
    await set('#nodes', '16');
    await set('#set-initiator', 'all');
    await set('#set-loss', '5%');
    await set('#set-delay', '0.5..2');
    await set('#set-attr', '3=10');
    await page.click('text="Faults, seed, end"');
    await set('#set-until', '200');
    await page.selectOption('#detector', 'phi');
    expect((await page.probe()).count, 16, 'nodes');
    expectMatch(await script(page), /algorithm bully[\s\S]*initiator all[\s\S]*loss 5%[\s\S]*delay 0\.5\.\.2[\s\S]*attr 3=10[\s\S]*detector phi/, 'the script');
    await set('#nodes', '64');
    expect((await page.probe()).count, 64, 'nodes');
    await page.click('#forward');
    await shot(page, 'sixty-four');
    await page.finish();
  },

  async both_themes_and_a_screen_reader(browser) {
    for (const theme of ['light', 'dark']) {
      const page = await browser.open('#story=split-brain/bully&at=6', { colorScheme: theme });
      expect(await page.getAttribute('html', 'data-theme'), theme, 'the theme of the system');
      await hear(page, `${theme}, stories`);
      await page.click('#tab-setup');
      await hear(page, `${theme}, settings`);
      await page.click('#tab-script');
      await hear(page, `${theme}, script`);
      await page.focus('[aria-label^="Node 5:"]');
      await page.keyboard.press('Enter');
      await hear(page, `${theme}, menu`);
      await page.keyboard.press('Escape');
      expectMatch(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /Node 5/, 'focus after Escape');
      await page.click('#theme');
      expect(await page.getAttribute('html', 'data-theme'), theme === 'light' ? 'dark' : 'light', 'the other theme');
      await page.click('#theme');
      await shot(page, `theme-${theme}`);
      await page.finish();
    }
  },

  async a_phone_and_a_zoomed_screen_have_all_of_it(browser) {
    for (const [name, viewport, scale] of [['phone', { width: 390, height: 844 }, 2], ['zoom-150', { width: 853, height: 533 }, 1.5], ['projector', { width: 1024, height: 768 }, 1]]) {
      const page = await browser.open('#story=chubby/crash&at=160', { viewport, deviceScaleFactor: scale });
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, `${name}: nothing is cut off at the side`);
      for (const id of ['#play', '#forward', '#slider', '#next-leader']) expect(await page.isVisible(id), true, `${name}: ${id}`);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      for (let i = 0; i < 12; i++) await page.click('#forward');
      expect(await page.evaluate(() => document.documentElement.scrollHeight), height, `${name}: the layout does not jump`);
      await shot(page, name);
      await page.finish();
    }
  },

  async a_slide_can_have_it_without_panels(browser) {
    const page = await browser.open('#story=raft/crash&embed');
    expect([await page.isVisible('.bar'), await page.isVisible('.side'), await page.isVisible('#play')], [false, false, true], 'bar, side, play');
    await page.finish();
  },

  async the_program_serves_it(browser) {
    const server = spawn(elector, ['lab'], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const address = (await new Promise((done) => server.stdout.once('data', (data) => done(String(data))))).trim();
      expectMatch(address, /^http:\/\/127\.0\.0\.1:\d+\/$/, 'address');
      const page = await browser.open('#story=raft/crash', {}, address);
      await page.finish();
      expect((await fetch(address, { method: 'POST' })).status, 405, 'POST');
      expect((await fetch(`${address}none`)).status, 404, 'another path');
    } finally {
      server.kill('SIGTERM');
      await new Promise((done) => server.once('exit', done));
    }
    expect(server.exitCode, 0, 'exit code');
  },
};
