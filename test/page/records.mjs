// Records that were made elsewhere: what agents recorded, and traces. Each test is a sentence.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, expectMatch, until } from './bench.mjs';
import { exportAs, message, scratch } from './browser.mjs';

const term = 1838201882928129, text = (...lines) => `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
const head = { what: 'run', algorithm: 'quorum', nodes: [1, 2, 3], recorded: true, names: ['ada', 'bob', 'cyn'], seed: 0, unit: 'ms' };

/** Node 1 is elected, asks 3 four times in vain, is asked to resign, and 2 leads. A view is recorded by the machine and by its host. */
function recording() {
  const lines = [];
  const add = (time, what, node, more = {}) => lines.push({ record: lines.length + 1, time, what, node, ...more }) && lines.length;
  const pass = (time, from, to, kind, cause) => {
    const message = lines.length + 1;
    add(time, 'sent', from, { to, kind, subject: 1, message, cause });
    return add(time + 0.1, 'delivered', to, { from, kind, subject: 1, message, cause: message });
  };
  const view = (time, node, leader, role, cause) => { for (let i = 0; i < 2; i++) add(time, 'viewed', node, { leader, role, term: leader ? term : 0, cause }); };
  const asked = pass(1, 1, 2, 'Vote', add(1, 'campaigned', 1));
  add(1.1, 'noted', 2, { note: 'grants', text: 'promises the group to 1', cause: asked });
  view(1.2, 1, 1, 'leader', pass(1.1, 2, 1, 'Grant', asked));
  for (let i = 1; i <= 4; i++) pass(10 * i + 0.1, 3, 1, 'Refuse', pass(10 * i, 1, 3, 'Vote', 0));
  const resigned = add(60, 'requested', 1, { request: 'resign' });
  view(60, 1, null, 'idle', resigned);
  view(60.1, 2, 2, 'leader', pass(60, 1, 2, 'Grant', 0));
  return text(head, ...lines);
}

function pageOf(about) {
  const page = readFileSync(scratch('lab.html'), 'utf8'), before = '<script type="application/octet-stream" id="module">';
  const opened = `<script type="application/jsonl" id="opened" data-name="work" data-about="${about}">${recording()}</script>\n`;
  writeFileSync(scratch('recording.html'), page.replace(before, () => opened + before));
  return pathToFileURL(scratch('recording.html')).href;
}

const ofAgents = 'What agents of shop recorded of group work. 1 is ada, 2 is bob, 3 is cyn.';

export const records = {
  async a_recording_shows_its_own_settings_names_and_causes(browser) {
    const page = await browser.open('', {}, pageOf(ofAgents));
    expect([await page.textContent('#title'), await page.textContent('.about-story')], ['work', ofAgents], 'title and story');
    await page.click('#next-leader');
    expect((await page.probe()).leaders, ['1'], 'the first leader');
    expectMatch(await page.caption(), /^(?!.*1 LEADS.*1 LEADS).*1 LEADS/, 'said once');
    expectMatch(await page.getAttribute('[aria-label^="Node 1"]', 'aria-label'), /^Node 1 \(ada\): leader, term/, 'its name');
    await page.click('#next-leader');
    expect((await page.probe()).leaders, ['2'], 'the second, with one press');
    await page.click('#why');
    expectMatch(await page.textContent('.menu ol'), /^(?!.*Refuse).*1 is asked to resign.*2 LEADS/, 'why: what led there and nothing else');
    await page.keyboard.press('Escape');
    await page.click('[aria-label^="Node 2"]');
    expectMatch(await page.textContent('.menu'), /bob.*cannot be changed/, 'the menu of a node');
    await page.keyboard.press('Escape');
    await page.click('#tab-setup');
    expect([await page.inputValue('#algorithm'), await page.inputValue('#set-ids'), await page.isDisabled('#set-ids')], ['quorum', '1,2,3', true], 'Set up');
    await page.click('#tab-script');
    expectMatch(await page.inputValue('#script-text'), /has no script/, 'Script');
    expect([await page.isDisabled('#run-script'), await page.isDisabled('#save'), await page.isEditable('#script-text')], [true, true, false], 'its buttons');
    await page.finish();
  },

  async undo_leaves_a_recording_and_redo_comes_back_to_it(browser) {
    const page = await browser.open('', {}, pageOf(ofAgents)), { records: count } = await page.probe();
    await page.click('[data-figure="bully/3-notices-6"]');
    expect((await page.probe()).count, 6, 'a story');
    await page.click('#tab-script');
    await page.click('#undo');
    expect([(await page.probe()).records, await page.textContent('#title')], [count, 'work'], 'the recording again');
    await page.click('#redo');
    expect((await page.probe()).count, 6, 'the story again');
    await page.evaluate(() => { location.hash = '#at=30.1'; });
    await until(page, (probe) => probe.records === count && probe.time === 30_100_000, 'a moment of the recording, by its address');
    await page.finish();
    const other = await browser.open('#at=1.2', {}, pageOf(ofAgents));
    expect([(await other.probe()).leaders, await other.textContent('#title')], [['1'], 'work'], 'a link into the recording');
    await other.finish();
  },

  async a_recordings_page_and_its_json_lines_can_be_opened(browser) {
    pageOf(ofAgents);
    writeFileSync(scratch('work.jsonl'), recording());
    const page = await browser.open(), count = recording().trimEnd().split('\n').length - 1;
    await page.setInputFiles('#file', scratch('recording.html'));
    await until(page, (probe) => probe.records === count, 'the page of a recording');
    expect(await page.textContent('.about-story'), ofAgents, 'what it is');
    await page.click('[data-figure="ring/six-best"]');
    await page.setInputFiles('#file', scratch('work.jsonl'));
    await until(page, (probe) => probe.records === count, 'a recording as JSON Lines');
    expectMatch(await page.textContent('.about-story'), /What agents recorded/, 'what it is');
    await page.click('#last');
    await page.click('#why');
    expectMatch(await page.textContent('.menu ol'), /is asked to resign/, 'why');
    await page.keyboard.press('Escape');
    const again = readFileSync(await exportAs(page, 'Trace (JSON Lines)', 'again.jsonl'), 'utf8');
    expect(JSON.parse(again.split('\n')[0]), head, 'the head of what is exported');
    await page.setInputFiles('#file', scratch('lab.html'));
    await page.waitForFunction(() => /lab\.html: this page has no recording in it/.test(document.querySelector('#message span').textContent));
    await page.finish();
  },

  async a_trace_shows_who_calls_and_is_not_told_as_another_run(browser) {
    const page = await browser.open('#story=ring/six-n3-starts'), trace = scratch('call.jsonl');
    execFileSync(process.env.ELECTOR, ['sim', 'bully', '--nodes', '5', '--leader', '5', '--crash', '5@0', '--initiator', '2', '--quiet', '--trace', trace]);
    await page.setInputFiles('#file', trace);
    await until(page, (probe) => probe.count === 5, 'the trace');
    await page.click('#tab-setup');
    expect([await page.inputValue('#algorithm'), await page.inputValue('#set-ids')], ['bully', '1,2,3,4,5'], 'Set up');
    for (let i = 0; i < 6 && !/2 calls an election/.test(await page.caption()); i++) await page.click('#forward');
    expectMatch((await page.probe()).views[1], /^2 electing/, 'the caller');
    await page.click('#last');
    expect((await page.probe()).views.map((view) => view.replace(/ \d+$/, '')), ['1 follower 4', '2 follower 4', '3 follower 4', '4 leader 4', '5 dead'], 'the end');
    await page.selectOption('#algorithm', 'raft');
    expectMatch((await page.probe()).text, /^algorithm raft\nids 1,2,3,4,5\n/, 'another algorithm begins a new run');
    expect(await message(page) !== '' && await page.isVisible('#message'), false, 'no complaint');
    await page.finish();
  },
};
