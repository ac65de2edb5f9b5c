// All tests of the page; run.sh says how to call it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './bench.mjs';
import { browserTests } from './browser.mjs';
import { controls } from './controls.mjs';
import { opensHostileTraces } from './hostile.mjs';
import { takePictures } from './pictures.mjs';
import { speed } from './speed.mjs';
import { stepping } from './stepping.mjs';
import { collect, compareInBrowser, compareUnderNode } from './transcripts.mjs';

const only = process.argv[2];
const browser = await Browser.start();
let failed = 0;

async function attempt(name, act) {
  try {
    await act();
    return true;
  } catch (error) {
    console.log(`FAIL  ${name}: ${error.message}`);
    failed++;
    return false;
  }
}

try {
  if (only === '--pictures') {
    await takePictures(browser);
  } else {
    if (!only) {
      const bundle = (name) => import(pathToFileURL(join(process.env.SCRATCH, `${name}.mjs`)).href);
      const { Engine, Run, Scene, ScenarioError } = await bundle('index'), { openTrace, TraceError } = await bundle('trace');
      const engine = await Engine.load(readFileSync(join(process.env.SCRATCH, 'lab.wasm')));
      const runs = collect(engine);
      await attempt('node', () => compareUnderNode(engine, runs));
      await attempt('chromium', async () => {
        const page = await browser.open();
        await compareInBrowser(page, runs);
        await page.finish();
        console.log('ok    chromium the same runs, the same bytes');
      });
      await attempt('stepping', () => stepping(engine, Run, Scene));
      await attempt('hostile', () => opensHostileTraces(engine, { Run, Scene, ScenarioError, openTrace, TraceError }, runs));
    }
    const chosen = Object.entries({ ...browserTests, ...controls, ...speed }).filter(([name]) => !only || name.includes(only));
    let passed = 0;
    for (const [name, test] of chosen) if (await attempt(name, () => test(browser))) passed++;
    console.log(`browser: ${passed} of ${chosen.length} passed`);
    if (chosen.length === 0) failed++;
  }
} finally {
  await browser.stop();
}
process.exit(failed ? 1 : 0);
