// Every field and every gesture that other tests do not touch. Each test is a sentence.
import { readFileSync } from 'node:fs';
import { expect, expectMatch, until } from './bench.mjs';
import { message, script } from './browser.mjs';

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };

async function set(page, field, value) {
  await page.fill(field, value);
  await page.press(field, 'Tab');
}

/** The menu of a node, opened by the keyboard. */
async function openMenuOf(page, node) {
  await page.focus(`[aria-label^="Node ${node}:"]`);
  await page.keyboard.press('Enter');
}

async function submit(page, label, value) {
  const form = page.locator('.menu form', { hasText: label });
  if (await form.locator('select').count()) await form.locator('select').selectOption(value);
  else await form.locator('input').fill(value);
  await form.locator('button').press('Enter');
}

export const forms = {
  async each_field_of_set_up_writes_its_line(browser) {
    const page = await browser.open('#scenario=algorithm+raft%0Anodes+5');
    await page.click('#tab-setup');
    for (const more of await page.locator('#setup summary').all()) await more.click();
    for (const [field, value, line] of [['#set-leader', '3', 'leader 3'], ['#set-dup', '10 %', 'dup 10%'], ['#set-reorder', '20%', 'reorder 20%'],
      ['#set-crash', '3@500', 'crash 3@500'], ['#set-partition', '1,2|3,4,5@600..700', 'partition 1,2|3,4,5@600..700'], ['#set-seed', '7', 'seed 7']]) {
      await set(page, field, value);
      expect((await script(page)).split('\n').includes(line), true, `'${line}' in ${await script(page)}`);
      expect(await page.inputValue(field), line.replace(/^\S+ /, ''), field);
    }
    await page.locator('#setup label', { hasText: 'prevote' }).locator('select').selectOption('off');
    expectMatch(await script(page), /^set prevote=off$/m, 'an option of the algorithm');
    await page.locator('#setup label', { hasText: 'prevote' }).locator('select').selectOption('');
    expect(/set prevote/.test(await script(page)), false, 'its default again');
    await page.selectOption('#algorithm', 'bully');
    await page.selectOption('#detector', 'after');
    await set(page, '#detect', '4');
    expectMatch(await script(page), /^detect 4$/m, 'the detector’s delay');
    await page.finish();
  },

  async sixty_four_nodes_of_every_kind_and_no_more(browser) {
    const page = await browser.open('#scenario=algorithm+bully%0Anodes+5');
    await page.click('#tab-setup');
    await page.selectOption('#algorithm', 'quorum');
    await set(page, '#nodes', '64');
    const { count, text, events } = await page.probe();
    expect(count, 64, `nodes: ${await message(page)}`);
    expectMatch(text, /^until 1000$/m, 'the run is cut');
    expectMatch(await message(page), /“Stop at” changes that/, 'and says so');
    if (events < 1000) throw new Error(`only ${events} events`);
    await page.click('#next-leader');
    expect((await page.probe()).leaders.length, 1, 'it has a leader');
    for (const wrong of ['65', '1', '']) {
      await set(page, '#nodes', wrong);
      expectMatch(await message(page), /2 to 64 nodes/, `${wrong} nodes`);
      expect([await page.inputValue('#nodes'), (await page.probe()).count], ['64', 64], 'as it was');
    }
    await page.finish();
  },

  async the_keyboard_alone_cuts_slows_parts_and_calls(browser) {
    const page = await browser.open('#story=raft/first-election&at=600');
    const [leader] = (await page.probe()).leaders, [one, other] = ['1', '2', '3', '4', '5'].filter((id) => id !== leader);
    for (const [label, line] of [[`Cut ${one} → ${other}`, `cut ${one}>${other}@`], [`Mend ${one} → ${other}`, `cut ${one}>${other}@.*\\.\\.`]]) {
      await openMenuOf(page, one);
      await submit(page, 'Its link to', other);
      await page.locator('.menu button', { hasText: label }).press('Enter');
      expectMatch(await script(page), new RegExp(`^${line}`, 'm'), label);
      await page.keyboard.press('ArrowRight');
    }
    await openMenuOf(page, one);
    await submit(page, 'Its link to', other);
    await submit(page, `Slow ${one} → ${other}`, '3');
    expectMatch(await script(page), new RegExp(`^slow ${one}>${other}=3@`, 'm'), 'slow');
    await openMenuOf(page, one);
    await page.locator('.menu button', { hasText: 'Call an election' }).press('Enter');
    expectMatch(await script(page), new RegExp(`^initiator ${one}@`, 'm'), 'call');
    const calls = new RegExp(`${one} calls an election`);
    for (let i = 0; i < 12 && !calls.test(await page.caption()); i++) await page.click('#forward');
    expectMatch(await page.caption(), calls, 'the caller calls');
    await openMenuOf(page, one);
    await submit(page, 'Cut it off from all but', `${other}`);
    expectMatch(await script(page), new RegExp(`^partition (${one},${other}|${other},${one})\\|\\d,\\d,\\d@`, 'm'), 'partition');
    await page.finish();
  },

  async a_dead_node_restarts_with_an_empty_disk(browser) {
    const page = await browser.open('#story=raft/first-election&at=600');
    for (const [label, line] of [['Crash', /^crash 2@/m], ['Restart it with an empty disk', /^wipe 2@/m]]) {
      await openMenuOf(page, '2');
      await page.locator('.menu button', { hasText: label }).click();
      expectMatch(await script(page), line, label);
      await page.click('#forward');
    }
    await page.finish();
  },

  async the_diagram_is_clicked_dragged_and_zoomed(browser) {
    const page = await browser.open('#story=raft/split-vote&at=250'), { x, y, width, height } = await page.locator('.diagram').boundingBox();
    const times = [], at = (part) => [x + width * part, y + height * 0.5];
    const now = async () => { await page.read('#caption'); times.push((await page.probe()).time); return times.at(-1); };
    await page.mouse.click(...at(0.3));
    const clicked = await now();
    expect(clicked > 0 && clicked < 250e6, true, 'a click goes to its time');
    await page.mouse.move(...at(0.3));
    await page.mouse.down();
    await page.mouse.move(...at(0.8), { steps: 4 });
    await page.mouse.up();
    const dragged = await now();
    expect(dragged > clicked, true, 'a drag moves time');
    const picture = () => page.locator('.diagram canvas').evaluate((canvas) => canvas.toDataURL());
    const begin = await picture(), pictures = new Set([begin]);
    for (const label of ['Show less time', 'Show more time', 'fit: show the whole run']) {
      await page.click(`[aria-label="${label}"]`);
      await page.read('#caption');
      pictures.add(await picture());
    }
    expect(pictures.size >= 3, true, 'each button shows another window');
    await page.mouse.move(...at(0.5));
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await page.read('#caption');
    expect(pictures.has(await picture()), false, 'Ctrl and the wheel show less time');
    expect(await now(), dragged, 'the moment is the same');
    await page.finish();
  },

  async a_file_is_dropped_and_a_script_is_run_by_its_key(browser) {
    const page = await browser.open();
    const transfer = await page.evaluateHandle(() => { const data = new DataTransfer(); data.items.add(new File(['algorithm bully\nnodes 7\ninitiator 1\n'], 'dropped.scenario')); return data; });
    await page.dispatchEvent('.stage', 'dragover', { dataTransfer: transfer });
    await page.dispatchEvent('.stage', 'drop', { dataTransfer: transfer });
    await until(page, (probe) => probe.count === 7, 'the dropped file');
    await page.click('#tab-script');
    await page.fill('#script-text', 'algorithm bully\nnodes 8\ninitiator 1\n');
    await page.press('#script-text', 'Control+Enter');
    expect((await page.probe()).count, 8, 'Ctrl Enter runs it');
    await page.finish();
  },

  async arrow_keys_walk_through_tabs_and_menus_and_the_skip_link_leads_to_the_controls(browser) {
    const page = await browser.open('#story=bully/3-notices-6');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement.textContent), 'Skip to the controls', 'the first stop');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement.closest('#deck') !== null), true, 'the next stop is a control');
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.focus('#tab-stories');
    await page.keyboard.press('ArrowRight');
    expect([await focused(), await page.isVisible('#setup')], ['Set up', true], 'the next tab');
    await page.keyboard.press('ArrowLeft');
    expect([await focused(), await page.isVisible('#stories')], ['Stories', true], 'the tab before');
    await page.click('#export');
    const first = await focused();
    await page.keyboard.press('ArrowDown');
    const second = await focused();
    await page.keyboard.press('ArrowUp');
    expect([first === second, await focused()], [false, first], 'down and up in a menu');
    await page.finish();
  },

  async fingers_open_a_menu_and_part_the_network(browser) {
    const page = await browser.open('#story=bully/3-notices-6&at=20', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await page.tap('[aria-label^="Node 2:"]');
    await page.locator('.menu button', { hasText: 'Crash' }).tap();
    expectMatch(await script(page), /^crash 2@/m, 'a tap');
    const { x, y, width, height } = await page.locator('.stage').boundingBox();
    const session = await page.context().newCDPSession(page), touch = (type, px, py) => session.send('Input.dispatchTouchEvent', { type, touchPoints: px === undefined ? [] : [{ x: px, y: py }] });
    await touch('touchStart', x + width / 2, y + 4);
    for (let i = 1; i <= 5; i++) await touch('touchMove', x + width / 2, y + 4 + (height - 8) * i / 5);
    await touch('touchEnd');
    await until(page, (probe) => /^partition [\d,]+\|[\d,]+@/m.test(probe.text), 'a finger across the stage');
    await page.finish();
  },

  async a_permalink_keeps_the_last_event_of_a_run_with_random_delays(browser) {
    const text = 'algorithm raft\nnodes 5\ndelay exp:1..8\nloss 5%\nseed 7\nuntil 400\n';
    const page = await browser.open(`#scenario=${encodeURIComponent(text)}`, clipboard);
    await page.click('#last');
    await page.click('#back');
    await page.click('#forward');
    for (let i = 0; i < 3; i++) {
      await page.click('#back');
      const there = await page.probe();
      await page.evaluate(() => { document.getElementById('message').hidden = true; });
      await page.click('#share');
      await page.waitForFunction(() => !document.getElementById('message').hidden);
      const other = await browser.open(await page.evaluate(() => location.hash)), here = await other.probe();
      expect([here.time, here.cursor, here.hash], [there.time, there.cursor, there.hash], 'the moment of the link');
      await other.finish();
    }
    await page.finish();
  },

  async each_figure_of_the_seeds_is_one_click(browser) {
    const page = await browser.open(), told = new Set(readFileSync('docs/seeds.md', 'utf8').match(/figure 10-\d/g));
    const buttons = await page.$$eval('[data-figure]', (all) => all.map((each) => [each.textContent, each.dataset.figure]));
    for (const figure of told) expect(buttons.filter(([title]) => title.toLowerCase().startsWith(`${figure}:`)).length, 1, `${figure} of docs/seeds.md`);
    for (const [title, name] of buttons) {
      const number = /10-\d/.exec(title)?.[0];
      if (number) expect(readFileSync(`scenarios/${name}.scenario`, 'utf8').includes(`figure ${number}`), true, `${name} is figure ${number}`);
      expect(await page.isVisible(`[data-figure="${name}"]`), true, `${title} is in sight`);
      await page.click(`[data-figure="${name}"]`);
      expect((await page.probe()).text, readFileSync(`scenarios/${name}.scenario`, 'utf8'), title);
    }
    await page.finish();
  },

  async a_promise_of_deciders_and_of_stores_has_its_light(browser) {
    const page = await browser.open('#story=members/add-a-voter');
    expectMatch(await page.read('.lights'), /one decision a number(?! \(not)/, 'a decider');
    expectMatch(await page.read('.lights li.holds >> nth=0'), /one decision/, 'it holds');
    await page.evaluate(() => { location.hash = '#story=store/etcd-herd'; });
    await page.waitForFunction(() => /etcd: herd/.test(document.getElementById('title').textContent));
    expectMatch(await page.read('.lights'), /everybody in turn(?! \(not)/, 'a store');
    await page.finish();
  },
};

/** Under node: no violation without a light. */
export function everyViolationHasALight({ catalogue }) {
  for (const { name, kind } of catalogue.violations)
    expect(catalogue.promises.filter(({ violations }) => (violations & kind) !== 0).length, 1, `lights for ${name}`);
  console.log(`ok    lights   each of ${catalogue.violations.length} violations breaks one promise of ${catalogue.promises.length}`);
}
