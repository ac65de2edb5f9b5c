// All tests of the page; run.sh says how to call it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser, expect } from './bench.mjs';
import { browserTests } from './browser.mjs';
import { controls } from './controls.mjs';
import { everyViolationHasALight, forms } from './forms.mjs';
import { opensHostileTraces } from './hostile.mjs';
import { takePictures } from './pictures.mjs';
import { paletteOf } from './png.mjs';
import { records } from './records.mjs';
import { screens } from './screens.mjs';
import { speed } from './speed.mjs';
import { stepping } from './stepping.mjs';
import { collect, compareInBrowser, compareUnderNode } from './transcripts.mjs';

const only = process.argv[2];
const browser = await Browser.start();
let failed = 0;

async function attempt(name, act) {
  const began = Date.now();
  try {
    await act();
    console.log(`ok    ${name}, ${((Date.now() - began) / 1000).toFixed(1)} s`);
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
      await attempt('palette', () => {
        const counts = new Map(Array.from({ length: 600 }, (_, i) => [((i & 255) * 0x10101 + (i >> 8)), 1000])), swatch = 0xd55e00;
        expect(paletteOf(counts.set(swatch, 5)).includes(swatch), true, 'a small swatch among shades of grey keeps its colour');
        expect(paletteOf(counts).length, 256, 'colours');
      });
      await attempt('lights', () => everyViolationHasALight(engine));
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
    const chosen = Object.entries({ ...browserTests, ...controls, ...forms, ...records, ...screens, ...speed }).filter(([name]) => !only || name.includes(only));
    let passed = 0;
    for (const [name, test] of chosen) if (await attempt(name, () => test(browser))) passed++;
    console.log(`browser: ${passed} of ${chosen.length} passed`);
    if (chosen.length === 0) failed++;
  }
} finally {
  await browser.stop();
}
process.exit(failed ? 1 : 0);
