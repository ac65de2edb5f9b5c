// What the live page shows while leaders are killed and agents cut off and restarted. Each test is a sentence; they share one
// cluster, and each leaves it whole.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, expectMatch, until } from './bench.mjs';
import { other, stand, standAgain } from './stand.mjs';

const words = (text) => text.replace(/\s+/g, ' ').replace(/µs|us/g, 'us');

export const failures = {
  // The fifth task of a first-time user: find out from the live page why leadership moved.
  async tells_why_leadership_moved(browser, cluster) {
    const leader = await stand(cluster), watcher = 'b', live = await browser.open(cluster.origin(watcher));
    await live.says('#pulse', /Live/);
    await cluster.kill(`${leader}-work`);
    await live.says('#changes', new RegExp(`work is led by [^${leader}]`));
    const next = await cluster.leader(watcher, 'work');
    await live.says('#head', new RegExp(`^work: ${next} leads with token \\d+`));
    const ended = await until(() => { // the old leader's agent states it after the change
      const told = words(cluster.ask(watcher, 'why', 'work')).split('MICROSECONDS')[0];
      return /Before, .* led with token \d+ for [^,]*, until (its worker was gone)\. Nobody led for [^.]*(?:\.\d+)? \w+\./.exec(told)?.[1];
    }, 'the cause, as elector why tells it');
    await live.says('#before', new RegExp(`^Before, ${leader} led with token \\d+ for .*, until ${ended}\\. Nobody led for `));
    const steps = JSON.parse(cluster.ask(watcher, 'why', 'work', '--output', 'json')).steps;
    await until(async () => (await live.cells('#steps')).length === steps.length, 'all steps are there');
    (await live.cells('#steps')).forEach((row, i) => expect(row[1].startsWith(steps[i].text), true, `step ${i}: ${row[1]}`));
    expect((await live.cells('#tenures'))[0][1], next, 'the newest tenure');
    expect(await live.page.locator('#timeline .gap').count() > 0, true, 'a gap in the timeline');
    await live.shot('why', true);
    await standAgain(cluster, leader);
    await live.finish();
  },

  async shows_a_killed_agent_and_its_return(browser, cluster) {
    const watcher = other(await stand(cluster)), live = await browser.open(cluster.origin(watcher));
    await live.says('#pulse', /Live/);
    const leader = await stand(cluster);
    const rowOf = async (name) => (await live.cells('#matrix tbody')).find(([listener]) => listener === name);
    await until(async () => (await rowOf(leader)).filter((text) => text === '✓ heard').length === 2, 'the leader has told whom it hears');
    await cluster.kill(leader);
    await live.says('#warning-list', new RegExp(`✕ member ${leader}.*not heard for`));
    await live.says('#state', /hears 2 of 3 votes/);
    const row = (await live.cells('#matrix tbody')).find(([name]) => name === watcher);
    expectMatch(row.join(), /✕ \d/, 'the silent one in the matrix');
    const third = ['a', 'b', 'c'].find((name) => name !== watcher && name !== leader);
    await until(async () => (await rowOf(third)).includes('✕ silent'), 'the third one tells that the killed one is silent');
    expect((await rowOf(leader)).filter((text) => text === '✓ heard?').length, 2, 'what the killed one said last is marked as old');
    await live.says('#head', new RegExp(`^work: [^${leader}] leads`), 'another leads');
    await until(async () => (await cluster.get(watcher, '/overview')).failovers.counts.some((one) => one > 0), 'a failover is counted');
    await live.says('#failovers', /failover.* since this agent started/);
    await live.shot('killed', true);
    await live.hear('with warnings');
    await cluster.startAgent(leader);
    await live.says('#warning-list', /^(?!.*✕)(?!.*member)/, 'no warning but of a busy host'); // lateness is told for an hour
    await live.says('#state', /hears 3 of 3 votes/);
    await standAgain(cluster, leader);
    await live.finish();
  },

  async says_that_it_is_cut_off(browser, cluster) {
    await stand(cluster);
    const live = await browser.open(cluster.origin('c'));
    await live.says('#state', /3 of 3/);
    await cluster.cut('c', 1);
    await live.says('#state', /Cut off: c hears 1 of 3 votes, its own included, and 2 are needed/);
    await live.says('#warning-list', /✕ majority1 of 3 votes count/);
    expect(await live.page.getAttribute('body', 'data-state'), 'cut-off', 'the page knows');
    await live.shot('cut-off', true);
    await cluster.cut('c', 0);
    await live.says('#state', /c hears 3 of 3 votes\./);
    await live.finish();
  },

  async says_since_when_the_agent_is_gone_and_finds_it_again(browser, cluster) {
    await stand(cluster);
    const live = await browser.open(cluster.origin('c'));
    await live.says('#pulse', /Live/);
    await live.says('#group-rows', /work/);
    await cluster.kill('c');
    await live.says('#state', /has not answered since \d\d:\d\d:\d\d, for .*Below is what it said then\. Trying again/);
    await live.says('#pulse', /No answer/);
    expectMatch(await live.text('#group-rows'), /work/, 'what it said last stays');
    await live.says('#state', /Trying again in [4-9] s/, 'it backs off');
    await live.shot('gone', true);
    await live.hear('without its agent');
    await cluster.startAgent('c');
    await live.page.locator('#retry').evaluate((button) => button.click()); // it may be disabled: the page asks by itself, too
    await live.says('#state', /c hears .* It was restarted at/);
    await live.says('#pulse', /Live/);
    await standAgain(cluster, 'c');
    await live.says('#group-rows', /work/);
    await live.finish();
  },

  async the_copied_command_does_what_it_says(browser, cluster) {
    const leader = await stand(cluster), live = await browser.open(cluster.origin(leader), '#group=work');
    await live.says('#head', /work/);
    await live.page.selectOption('#target', other(leader));
    const code = await live.page.locator('#commands code', { hasText: 'elector transfer' }).textContent();
    const [, ...args] = code.replace(/#.*/, '').trim().split(/ +/);
    const done = spawnSync(process.env.ELECTOR, args, { encoding: 'utf8' });
    expect(done.status, 0, `${code}: ${done.stderr}`);
    await live.says('#before', /until it handed over/);
    await live.finish();
  },

  async what_agents_recorded_opens_in_the_laboratory(browser, cluster) {
    const leader = await stand(cluster);
    await cluster.kill(leader);
    const heir = await until(() => cluster.leader(other(leader), 'work').then((name) => name !== leader && name), 'another leads');
    await cluster.startAgent(leader);
    await standAgain(cluster, leader);
    const file = join(cluster.folder, 'recording.html'), number = String('abc'.indexOf(heir) + 1);
    const told = [`"what":"viewed","node":${number},"leader":${number},"role":"leader"`, '"what":"crashed"'];
    const text = await until(() => { // the file of an agent that runs is up to a second behind
      const { status, stdout, stderr } = cluster.replay('work', 'page');
      return status === 0 && / terms? of office: one leader to a token/.test(stderr) && told.every((line) => stdout.includes(line)) && stdout;
    }, 'recordings of the change');
    writeFileSync(file, text);
    const opened = await browser.openFile(file);
    await opened.says('#title', /^work$/);
    await opened.says('.about-story', /What agents of shop recorded of group work\. 1 is a, 2 is b, 3 is c\./);
    for (let i = 0; i < 60; i++) { // the recordings have earlier leaders too
      if ((await opened.page.evaluate(() => window.lab.probe().leaders)).join() === number) break;
      await opened.page.click('text="Next leader"');
    }
    expect(await opened.page.evaluate(() => window.lab.probe().leaders), [number], 'the heir leads, and nobody beside it');
    await opened.page.click('text="Why?"');
    expectMatch(await opened.text('.menu'), new RegExp(`CRASHES.* ${number} LEADS`), 'why: the chain from the death to the heir');
    await opened.shot('recording');
    await opened.finish();
  },
};
