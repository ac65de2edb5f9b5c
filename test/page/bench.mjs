// What the tests of the page share: a browser, a page in it, and a way to say what failed.
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(resolve('web/package.json'))('playwright-core');

export const shots = join(process.env.BUILD ?? 'build/release', 'page');
mkdirSync(shots, { recursive: true });

/** Cumulative layout shift, as the browser reports it; 0.1 is what people call good. */
export const shiftMax = 0.1;

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--mute-audio'];

export class Browser {
  static async start() {
    const self = new Browser();
    self.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags, headless: true });
    return self;
  }

  /** A page of its own, which fails the test if a script fails or anything but the page is loaded. */
  async open(fragment = '', options = {}, address = pathToFileURL(resolve(join(process.env.SCRATCH, 'lab.html'))).href, prepare = async () => {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(`script: ${error.message}`));
    page.on('console', (message) => { if (message.type() === 'error') page.problems.push(`console: ${message.text()}`); });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(address) && !url.startsWith('blob:') && !url.startsWith('data:')) page.problems.push(`loads ${url}`);
    });
    await page.addInitScript(() => {
      window.shifts = { unasked: 0, all: 0 };
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) {
          window.shifts.all += value;
          if (!hadRecentInput) window.shifts.unasked += value;
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    page.prepared = await prepare(page);
    await page.goto(address + fragment);
    await page.waitForSelector('html[data-ready=yes]');
    page.probe = () => page.evaluate(() => window.lab.probe());
    page.read = async (selector) => { // as drawn: two frames later
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      return page.textContent(selector);
    };
    page.caption = () => page.read('#caption');
    page.finish = async () => {
      await page.read('#caption'); // two frames more, in which something might jump
      const { unasked } = await page.evaluate(() => window.shifts);
      if (unasked > shiftMax) page.problems.push(`the layout jumps by itself: cumulative shift ${unasked.toFixed(2)}`);
      await context.close();
      expect(page.problems, [], 'problems of the page');
    };
    return page;
  }

  async stop() { await this.browser.close(); }
}

const plain = (value) => typeof value === 'string' ? value : JSON.stringify(value);

export function expect(actual, expected, what) {
  if (plain(actual) !== plain(expected)) throw new Error(`${what}: ${plain(actual)}, not ${plain(expected)}`);
}

export function expectMatch(text, pattern, what) {
  if (!pattern.test(text ?? '')) throw new Error(`${what}: '${text}' does not match ${pattern}`);
}

/** Waits until the page's probe satisfies the test, on a busy machine, too. */
export async function until(page, test, what) {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    const probe = await page.probe();
    if (test(probe)) return probe;
    await page.waitForTimeout(50);
  }
  throw new Error(`not in time: ${what}`);
}
