// All tests of the live page; run.sh says how to call it. Two clusters at once: most of the time is spent waiting.
import { Browser } from './bench.mjs';
import { Cluster } from './cluster.mjs';
import { failures } from './failures.mjs';
import { many } from './many.mjs';
import { takePictures } from './pictures.mjs';
import { uses } from './uses.mjs';

const only = process.argv[2];
const browser = await Browser.start();
let failed = 0, passed = 0;

async function runAll(tests, number) {
  const chosen = Object.entries(tests).filter(([name]) => !only || name.includes(only));
  const cluster = new Cluster(number);
  try {
    if (chosen.length > 0) await cluster.start();
    for (const [name, test] of chosen) {
      const began = Date.now();
      try {
        await test(browser, cluster);
        console.log(`ok    ${((Date.now() - began) / 1000).toFixed(1).padStart(4)} s  ${name}`);
        passed++;
      } catch (error) {
        console.log(`FAIL  ${name}: ${error.message}`);
        if (++failed > 2) break; // the rest would wait in vain
      }
    }
  } finally {
    await cluster.stop();
  }
}

async function takeAll() {
  const cluster = new Cluster(3);
  try {
    await cluster.start();
    await takePictures(browser, cluster);
    passed++;
  } finally {
    await cluster.stop();
  }
}

try {
  if (only === '--pictures') await takeAll();
  else await Promise.all([runAll(failures, 1), runAll({ ...uses, ...many }, 2)]);
} finally {
  await browser.stop();
}
console.log(`live: ${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
