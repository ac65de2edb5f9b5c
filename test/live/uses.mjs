// What an operator does with the live page of a cluster that is well: every control, every screen, and text of strangers.
import { spawnSync } from 'node:child_process';
import { expect, expectMatch, until } from './bench.mjs';
import { other, stand } from './stand.mjs';

const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>'\u202egro.live\u2066`;
const long = `${hostile}${'x'.repeat(255 - Buffer.byteLength(hostile))}`;

export const uses = {
  async shows_members_groups_and_who_hears_whom(browser, cluster) {
    await stand(cluster);
    const live = await browser.open(cluster.origin('b'));
    await live.says('#pulse', /Live/);
    await live.says('#state', /b hears 3 of 3 votes\. 1 group has a leader/);
    const members = await live.cells('#member-rows');
    expect(members.map((row) => row.slice(0, 2)), [['a', 'voter'], ['b', 'voter'], ['c', 'voter']], 'members');
    await until(async () => (await live.cells('#member-rows')).every((row) => /^\d+\.\d+/.test(row[2])), 'the versions of all members');
    const full = [['a', '', '✓ heard', '✓ heard'], ['b', '✓ heard', '', '✓ heard'], ['c', '✓ heard', '✓ heard', '']];
    await until(async () => JSON.stringify(await live.cells('#matrix tbody')) === JSON.stringify(full), 'who hears whom: all rows');
    await until(async () => { // on a busy machine another may come to lead meanwhile
      const [row] = await live.cells('#group-rows'), { groups: [told] } = await cluster.get('b', '/groups');
      return row && [...row.slice(0, 3), ...row.slice(4)].join() === ['work', told.leader, told.token, 'a, b, c', `${told.leader}:9000`].join();
    }, 'the group as the agent tells it: leader, token, candidates, value');
    await live.says('#warning-list', /^(?!.*✕)(?!.*member)/, 'no warning but of a busy host'); // lateness is told for an hour
    await live.finish();
  },

  async every_control_works(browser, cluster) {
    await stand(cluster);
    const live = await browser.open(cluster.origin('a')), { page } = live;
    const many = Array.from({ length: 40 }, (_, i) => `shop/shard-${String(i).padStart(2, '0')}`);
    await cluster.standForMany('a', many);
    await live.says('#group-count', /^41, of which a leads 4[01]/);
    await live.says('#range', /^1 to 15 of 41/);
    await page.click('#next');
    await live.says('#range', /^16 to 30 of 41/);
    await page.click('#next');
    await live.says('#range', /^31 to 41 of 41/);
    expect(await page.isDisabled('#next'), true, 'there is no next page');
    await page.click('#previous');
    await live.says('#range', /^16 to 30/);
    await page.click('#first');
    await live.says('#range', /^1 to 15/);
    await page.click('h2#groups-title');
    await page.keyboard.press('/');
    await page.keyboard.type('SHARD-1');
    await live.says('#range', /^1 to 10 of 10 found/);
    await page.focus('#group-rows button');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await live.says('#detail-title', /shop\/shard-11/);
    await live.says('#head', /^shop\/shard-11: a leads/);
    expect(new URL(page.url()).hash, '#group=shop%2Fshard-11', 'the address');
    await page.fill('#search-text', '"><b>');
    await live.says('#no-groups', /No group is like that/);
    await page.fill('#search-text', '');
    await page.selectOption('#search-leader', { label: 'nobody' });
    await live.says('#range', /^None/);
    await page.selectOption('#search-leader', 'a');
    await live.says('#range', /^1 to 15 of those found/);
    for (const verb of ['why', 'history', 'observe', 'transfer', 'resign']) {
      const code = page.locator('#commands code', { hasText: `elector ${verb} ` });
      await code.locator('xpath=following-sibling::button').click();
      expectMatch(await page.evaluate(() => navigator.clipboard.readText()), new RegExp(`^elector ${verb} shop/shard-11`), 'copied');
    }
    await page.click('#warnings .command button');
    const doctor = await page.evaluate(() => navigator.clipboard.readText());
    expect(doctor, `elector doctor --config ${cluster.conf('a')}`, 'copied');
    expectMatch(spawnSync(process.env.ELECTOR, doctor.split(' ').slice(1), { encoding: 'utf8' }).stdout, /^ok +agent .* answers for member a of shop$/m, 'it asks this agent');
    await page.selectOption('#span', '300');
    await live.says('#timeline', /now/);
    await page.goBack();
    await page.selectOption('#search-leader', '*');
    await page.click('#group-rows button:text-is("work")');
    await live.says('#head', /^work:/);
    const to = other('a', await cluster.leader('a', 'work'));
    await page.selectOption('#target', to);
    expectMatch(await page.textContent('#commands'), new RegExp(`elector transfer work --to ${to}`), 'the target');
    await cluster.kill('a-many');
    await live.says('#changes', /shard-\d\d has no leader/);
    await page.click('#changes button >> nth=0');
    await live.says('#detail-title', /shard/);
    await live.says('#warning-list', /! groups40 groups have no leader, and no candidate here/);
    await live.says('#state', /^! a hears 3 of 3 votes\. 1 of 41 groups has a leader, the others have no candidate here\./);
    await live.finish();
  },

  async both_themes_and_a_narrow_screen(browser, cluster) {
    await stand(cluster);
    for (const [name, options] of Object.entries({
      light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' },
      phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light' }, zoomed: { viewport: { width: 853, height: 600 }, deviceScaleFactor: 1.5 },
    })) {
      const live = await browser.open(cluster.origin('b'), '#group=work', options);
      await live.says('#head', /^work/);
      await live.fits(name);
      if (name !== 'zoomed') await live.hear(name);
      await live.shot(name, true);
      if (name === 'light') {
        await live.page.click('#theme');
        expect(await live.page.getAttribute('html', 'data-theme'), 'dark', 'the button');
      }
      await live.finish();
    }
  },

  async hostile_text_stays_text(browser, cluster) {
    cluster.campaign('a', 'hostile', long);
    await until(async () => (await cluster.get('b', '/leader/hostile'))?.value === long, 'b knows the value');
    const live = await browser.open(cluster.origin('b'), '#group=%3Cimg%20src%3Dx%20onerror%3Dalert(3)%3E');
    await live.says('#detail-none', /<img src=x onerror=alert\(3\)>: this agent does not know/);
    await live.page.fill('#search-text', 'hostile');
    await live.says('#range', /1 to 1 of 1/);
    const [row] = await live.cells('#group-rows');
    expect(row[5], long.replace('\u202e', '⟨U+202E⟩').replace('\u2066', '⟨U+2066⟩'), 'the value');
    expect(await live.page.locator('main img, main script').count(), 0, 'elements from data');
    await live.fits('with a long value');
    await cluster.kill('a-hostile');
    live.problems = live.problems.filter((problem) => !/404/.test(problem)); // asked for on purpose
    await live.finish();
  },

  // Names that no agent allows, as a broken one might send them.
  async hostile_answers_stay_text(browser, cluster) {
    const spoil = (value) => {
      if (Array.isArray(value)) return value.map(spoil);
      if (!value || typeof value !== 'object') return value;
      return Object.fromEntries(Object.entries(value).map(([key, one]) =>
        [key, ['name', 'member', 'leader', 'group', 'cluster', 'text', 'role', 'address', 'began', 'ended', 'version', 'value', 'detail'].includes(key) && typeof one === 'string' ? `${one}${long}` : spoil(one)]));
    };
    await stand(cluster);
    const live = await browser.open(cluster.origin('b'), '', {}, (page) => page.route(/\/(overview|groups|why|history)/, async (route) => {
      const url = route.request().url().replace(/(why|history)\/.*/, '$1/work').replace(/&?search=[^&]*/, '');
      const answer = await route.fetch({ url });
      await route.fulfill({ response: answer, json: spoil(await answer.json()) });
    }));
    await live.says('#head', /work/);
    expect(await live.page.locator('main img, main script, header img').count(), 0, 'elements from data');
    expect((await live.text('body')).includes('\u202e'), false, 'text that runs backwards');
    await live.shot('hostile', true);
    await live.fits('with hostile names');
    await live.finish();
  },

  // Members as an agent with candidates tells them, and one that speaks another version.
  async only_who_counts_is_counted(browser, cluster) {
    await stand(cluster);
    const others = [{ name: 'd', role: 'candidate', reachable: null, heard_ms: null }, { name: 'e', role: 'candidate', reachable: false, heard_ms: 9000 },
      { name: 'f', role: 'observer', reachable: false, heard_ms: null }, { name: 'g', role: 'witness', reachable: true, heard_ms: 10, speaks: '3', hears: ['a', 'b', 'c'] }];
    const live = await browser.open(cluster.origin('b'), '', {}, (page) => page.route('**/overview', async (route) => {
      const answer = await route.fetch(), told = await answer.json();
      others.forEach((one, i) => told.members.push({ id: 4 + i, address: '127.0.0.1:1', ...one }));
      await route.fulfill({ response: answer, json: told });
    }));
    await live.says('#state', /^! b hears 3 of 4 votes\./);
    const warnings = await live.text('#warning-list');
    expectMatch(warnings, /! member e127\.0\.0\.1:1, not heard for 9\.00 s/, 'a silent candidate takes no vote with it');
    expectMatch(warnings, /! member f127\.0\.0\.1:1, never heard/, 'nor does an observer');
    expectMatch(warnings, /✕ member g127\.0\.0\.1:1, it does not count: it speaks version 3/, 'another version');
    expect(/member d/.test(warnings), false, 'a warning of one whom this agent does not ask');
    const rows = await live.cells('#matrix tbody');
    expect(rows[3].slice(4).join(), ',–,–,?', 'a candidate hears those that vote');
    await live.hear('with candidates');
    await live.finish();
  },

  // As `elector doctor` judges the same numbers.
  async warns_as_doctor_does(browser, cluster) {
    await stand(cluster);
    const told = { groups: { count: 12, led: 12, waiting: 0 } }; // other tests leave groups
    const live = await browser.open(cluster.origin('b'), '', {}, (page) => page.route('**/overview', async (route) => {
      const answer = await route.fetch(), overview = await answer.json();
      Object.assign(overview, told.overview);
      Object.assign(overview.groups, told.groups);
      await route.fulfill({ response: answer, json: overview });
    }));
    const own = await cluster.get('b', '/overview'), { text } = JSON.parse(cluster.doctor('b')).checks.find(({ what }) => what === 'lateness');
    expect(`${(own.stall_us / 1000).toFixed(1)} ms`, /([\d.]+ ms) (would )?stop work/.exec(text)[1], 'what would stop work');
    told.overview = { late_us: 223_501, stall_us: 447_000 };
    await live.says('#warning-list', /! lateness.*the agent ran up to 223\.5 ms late in the last hour, and 447\.0 ms would stop work/);
    told.overview = { late_us: 223_500, stall_us: 447_000 };
    await live.says('#warning-list', /^$/);
    await live.says('#state', /^✓ b hears 3 of 3 votes\. 12 groups have a leader\./);
    told.groups = { count: 12, led: 11, waiting: 1, waiting_group: 'billing' };
    await live.says('#warning-list', /✕ group billing.*nobody leads, though a candidate stands here; if so still after [\d,]+ ms, see the members/);
    await live.says('#state', /^! b hears 3 of 3 votes\. 1 group has candidates here and no leader, of 12 groups\./);
    expect(await live.page.getAttribute('body', 'data-state'), 'warned', 'the state is not fine');
    await live.hear('with a group that waits');
    told.groups = { count: 12, led: 7, waiting: 3 };
    await live.says('#warning-list', /✕ groups.*3 groups have candidates here and no leader;.*! groups.*2 groups have no leader, and no candidate here/);
    await live.shot('waiting', true);
    await live.finish();
  },

  async says_what_is_only_a_bound(browser, cluster) {
    await stand(cluster);
    const was = { leader: 'c', token: 1025, age_us: 9_000_000, began: 'elected', ended: 'agent ended', led_us: 5_300_000, nobody_us: null, led_at_most: true };
    const live = await browser.open(cluster.origin('b'), '#group=work', {}, (page) => page.route(/\/(why|history)\//, async (route) => {
      const answer = await route.fetch(), told = await answer.json();
      if (told.tenures) told.tenures.unshift({ ...was, at: new Date(Date.parse(told.tenures[0].at) - 2000).toISOString() }); // the bound is later than the next leader
      else Object.assign(told, { before: was, steps: told.steps.length ? told.steps : [{ us: 0, by: 'link', text: 'b begins' }] });
      await route.fulfill({ response: answer, json: told });
    }));
    await live.says('#before', /^Before, c led with token 1025 for at most 5\.30 s, until its agent ended\./);
    expectMatch((await live.cells('#tenures')).at(-1).join('|'), /\|at most 5\.30 s\|/, 'in the table');
    expectMatch(await live.page.getAttribute('#timeline svg', 'aria-label'), /^c led with token 1025 for at most 5\.30 s: agent ended/, 'in the timeline');
    const beyond = await live.page.$$eval('#timeline rect', (all) => Math.max(...all.map((one) => one.x.baseVal.value + one.width.baseVal.value - one.ownerSVGElement.viewBox.baseVal.width)));
    expect(beyond < 1, true, 'the timeline ends with the present leader');
    await live.finish();
  },

  async the_policy_lets_nothing_else_run(browser, cluster) {
    const answer = await fetch(`${cluster.origin('a')}/`), policy = answer.headers.get('content-security-policy');
    expectMatch(policy, /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/, 'the policy');
    expect(answer.headers.get('x-content-type-options'), 'nosniff', 'nosniff');
    const size = (await answer.arrayBuffer()).byteLength;
    if (size > 150_000) throw new Error(`the page has ${size} bytes`);
    const live = await browser.open(cluster.origin('a'));
    const refused = await live.page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.intruder = true';
      document.body.append(script);
      await fetch('http://127.0.0.1:9/').catch(() => {});
      await new Promise((done) => setTimeout(done, 0));
      const seen = window.seen.violations.map((one) => one.replace('-elem', ''));
      window.seen.violations = [];
      return { intruder: Boolean(window.intruder), seen };
    });
    expect(refused, { intruder: false, seen: ['script-src', 'connect-src'] }, 'what the browser refuses');
    live.problems = live.problems.filter((problem) => !/Content Security Policy|127\.0\.0\.1:9\/|Content-Security-Policy/i.test(problem));
    await live.finish();
  },
};
