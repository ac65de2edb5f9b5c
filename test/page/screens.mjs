// What every screen must be: nothing cut off, nothing that jumps, nothing that axe finds serious. Each test is a sentence.
import { execFileSync } from 'node:child_process';
import { expect, expectMatch, shiftMax } from './bench.mjs';
import { hear, scratch, shot } from './browser.mjs';

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true };
const zoomed = { viewport: { width: 853, height: 533 }, deviceScaleFactor: 1.5 };
const projector = { viewport: { width: 1920, height: 1080 } };
const long = '#story=quorum/chain&at=900', handOver = '#story=raft/transfer&compare=quorum&at=211.4';

const box = (page, selector) => page.locator(selector).boundingBox();
const bottom = ({ y, height }) => Math.round(y + height);

/** Everything that is written on the canvases from now on, with its place on the screen. */
function listenToLetters() {
  window.letters = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const place = this.canvas.getBoundingClientRect(), width = this.measureText(text).width;
    const left = x - (this.textAlign === 'center' ? width / 2 : this.textAlign === 'right' ? width : 0);
    window.letters.push({ text, size: Number(/(\d+(\.\d+)?)px/.exec(this.font)[1]), stage: this.canvas.parentElement?.className, left: place.x + left, right: place.x + left + width, middle: place.y + y });
    return write.call(this, text, x, y, ...rest);
  };
}

export const screens = {
  async axe_finds_nothing_serious_on_any_screen(browser) {
    execFileSync(process.env.ELECTOR, ['sim', 'bully', '--nodes', '3', '--initiator', '1', '--quiet', '--trace', scratch('axe.jsonl')]);
    for (const [name, fragment, options] of [['phone', long, phone], ['phone, compare', handOver, { ...phone, colorScheme: 'dark' }],
      ['zoomed', long, zoomed], ['zoomed, compare', handOver, { ...zoomed, colorScheme: 'dark' }], ['slide, compare', `${handOver}&embed`, { viewport: { width: 960, height: 640 } }]]) {
      const page = await browser.open(fragment, options);
      await hear(page, name);
      if (name === 'phone') {
        for (const id of ['#help', '#export', '#why']) {
          await page.click(id);
          await hear(page, `${name}, ${id}`);
          await page.keyboard.press('Escape');
        }
        await page.click('#next-violation');
        await hear(page, `${name}, message`);
        await page.setInputFiles('#file', scratch('axe.jsonl'));
        await page.waitForFunction(() => window.lab.probe().count === 3);
        for (const tab of ['#tab-setup', '#tab-script']) {
          await page.click(tab);
          await hear(page, `${name}, trace, ${tab}`);
        }
      }
      await page.finish();
    }
  },

  async stage_diagram_and_facts_stand_above_the_controls(browser) {
    let page = await browser.open('#story=raft/split-vote&at=250', zoomed), deck = await box(page, '#deck');
    expect(bottom(deck) <= 533, true, 'zoomed: the controls are on the screen');
    for (const part of ['.stage', '.diagram', '.facts']) expect(bottom(await box(page, part)) <= deck.y + 1, true, `zoomed: ${part} is above the controls`);
    await page.finish();
    page = await browser.open(handOver, zoomed);
    deck = await box(page, '#deck');
    const stages = await page.$$eval('.stage, .diagram', (all) => all.map((each) => { const { x, bottom: end } = each.getBoundingClientRect(); return [Math.round(x), end]; }));
    expect([stages.length, new Set(stages.map(([x]) => x)).size], [4, 2], 'two runs, in two columns');
    for (const [, end] of stages) expect(end <= deck.y + 1, true, `zoomed, compare: above the controls (${end}, ${deck.y})`);
    await shot(page, 'zoom-compare');
    await page.finish();
    page = await browser.open('#story=chubby/crash&at=160', phone);
    deck = await box(page, '#deck');
    for (const part of ['.stage', '.diagram']) expect(bottom(await box(page, part)) <= deck.y + 1, true, `phone: ${part} is above the controls`);
    await page.finish();
  },

  async a_message_moves_nothing(browser) {
    const page = await browser.open('#story=ring/six-n3-starts'), before = await box(page, '.stage');
    await page.click('#next-violation');
    expectMatch(await page.read('#message span'), /No further violation/, 'the message');
    expect([await box(page, '.stage'), (await page.evaluate(() => window.shifts.all)) < shiftMax], [before, true], 'the stage stays');
    await page.click('#message button');
    expect(await page.isVisible('#message'), false, 'closed');
    await page.finish();
  },

  async labels_lie_on_no_node_and_on_no_other_label(browser) {
    for (const [fragment, options] of [[handOver, zoomed], ['#story=bully/worst-case', {}]]) {
      const page = await browser.open(fragment, options);
      await page.evaluate(`(${listenToLetters})()`);
      let seen = 0;
      for (let i = 0; i < 9; i++) {
        await page.evaluate(() => { window.letters = []; });
        await page.click('#forward');
        await page.evaluate(() => window.lab.seek(window.lab.probe().time + 3e5)); // messages are under way
        await page.read('#caption');
        const { letters, nodes } = await page.evaluate(() => ({ letters: window.letters.filter(({ stage, text }) => stage === 'stage' && /^[A-Z]\w+ \d+$/.test(text)),
          nodes: [...document.querySelectorAll('.stage .node')].map((each) => { const { x, y, width } = each.getBoundingClientRect(); return { x: x + width / 2, y: y + width / 2, radius: width / 2 }; }) }));
        const last = letters.filter((each, at) => letters.findLastIndex((other) => other.left === each.left && other.text === each.text && other.middle === each.middle) === at);
        seen += last.length;
        for (const { text, left, right, middle } of last) {
          const on = nodes.find(({ x, y, radius }) => Math.abs(middle - y) < radius && left < x + radius * 0.8 && x - radius * 0.8 < right);
          expect(on, undefined, `${fragment}, step ${i}: '${text}' lies on a node`);
        }
      }
      expect(seen > 3, true, `labels were seen: ${seen}`);
      await page.finish();
    }
  },

  async letters_grow_on_a_projector_and_every_leader_has_a_crown(browser) {
    const sizes = {};
    for (const [name, options] of [['desk', {}], ['projector', projector]]) {
      const page = await browser.open('#story=ring/six-n3-starts&at=3', options);
      await page.evaluate(`(${listenToLetters})()`);
      await page.click('#forward');
      await page.read('#caption');
      sizes[name] = await page.evaluate(() => Math.min(...window.letters.map(({ size }) => size)));
      if (name === 'projector') await shot(page, 'projector-1920');
      await page.finish();
    }
    expect(sizes.projector >= 14 && sizes.projector > sizes.desk, true, `the smallest letters: ${JSON.stringify(sizes)}`);
    const page = await browser.open('#story=store/kubernetes-15-10-2&at=4000', projector);
    await page.read('#caption');
    expectMatch((await page.$$eval('.stage .node', (all) => all.map((each) => each.getAttribute('aria-label')))).join(), /Node 4: the store/, 'the store is no candidate');
    await page.finish();
  },
};
