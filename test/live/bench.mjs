// What the tests of the live page share: a browser, pages that notice every problem, and a way to wait for something.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const modules = createRequire(resolve('web/package.json'));
const { chromium } = modules('playwright-core');
const axeSource = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--mute-audio'];

export const LIMIT_MS = 30_000; // for whatever is waited for, on a busy machine
const shots = join(process.env.BUILD, 'live');
mkdirSync(shots, { recursive: true });

const plain = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

export function expect(actual, expected, what) {
  if (plain(actual) !== plain(expected)) throw new Error(`${what}: ${plain(actual)}, not ${plain(expected)}`);
}

export function expectMatch(text, pattern, what) {
  if (!pattern.test(text ?? '')) throw new Error(`${what}: '${text}' does not match ${pattern}`);
}

export async function until(test, what, limitMs = LIMIT_MS) {
  for (const end = Date.now() + limitMs; ;) {
    const found = await test();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Counts what the browser refuses, and what moves although nobody touched anything. */
function watch() {
  window.seen = { violations: [], shift: 0 };
  document.addEventListener('securitypolicyviolation', (event) => window.seen.violations.push(event.violatedDirective));
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.seen.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
}

class LivePage {
  constructor(page, origin) {
    this.page = page;
    this.problems = [];
    page.on('pageerror', (error) => this.problems.push(`script: ${error.message}`));
    page.on('console', (message) => this.onConsole(message));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) this.problems.push(`loads ${url}`);
      if (request.method() !== 'GET') this.problems.push(`${request.method()} ${url}`);
    });
  }

  /** An agent that is gone makes the browser complain; nothing else may. */
  onConsole(message) {
    if (message.type() === 'error' && !/net::ERR_(CONNECTION|INCOMPLETE|EMPTY|SOCKET|ABORTED)/.test(message.text())) this.problems.push(`console: ${message.text()}`);
  }

  text(selector) { return this.page.textContent(selector); }

  says(selector, pattern, what = selector) {
    return until(async () => pattern.test((await this.text(selector)) ?? ''), `${what} says ${pattern}`)
      .catch(async (error) => { throw new Error(`${error.message}; it says '${await this.text(selector)}'`); });
  }

  cells(selector) {
    return this.page.$$eval(`${selector} tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  }

  shot(name, whole = false) { return this.page.screenshot({ path: join(shots, `${name}.png`), fullPage: whole }); }

  /** What a person hears who cannot see, or cannot use a mouse: nothing serious may be wrong. */
  async hear(what) {
    await this.page.evaluate(axeSource);
    const { violations } = await this.page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' ')}`);
    expect(serious, [], `axe, ${what}`);
  }

  async fits(what) {
    const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) throw new Error(`${wide} pixels beyond the screen, ${what}`);
  }

  async finish() {
    const seen = await this.page.evaluate(() => window.seen);
    await this.page.context().close();
    expect(this.problems, [], 'problems of the page');
    expect(seen.violations, [], 'violations of its policy');
    if (seen.shift > 0.1) throw new Error(`the layout jumps: ${seen.shift.toFixed(3)}`);
  }
}

export class Browser {
  static async start() {
    const self = new Browser();
    self.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags, headless: true });
    return self;
  }

  async open(origin, fragment = '', options = {}, prepare = async () => {}) {
    const context = await this.browser.newContext({ viewport: { width: 1360, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'], ...options });
    const page = await context.newPage();
    await page.addInitScript(watch);
    await prepare(page);
    const live = new LivePage(page, origin);
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(`${origin}/${fragment}`);
    await live.says('#state', /hears|not answered/);
    return live;
  }

  /** A page that a command has written. */
  async openFile(path) {
    const context = await this.browser.newContext({ viewport: { width: 1360, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(watch);
    const opened = new LivePage(page, `file://${path}`.replace(/\/[^/]*$/, ''));
    page.setDefaultTimeout(LIMIT_MS);
    await page.goto(`file://${path}`);
    await page.waitForSelector('html[data-ready=yes]');
    return opened;
  }

  stop() { return this.browser.close(); }
}
