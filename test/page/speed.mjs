// How fast the page is. A busy machine makes everything slow, so what is judged is the processor time of the page's own thread; the
// time that passed is printed beside it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from './browser.mjs';
import { shots, until } from './bench.mjs';
import { long } from './stepping.mjs';

const megabyte = 1 << 20;

/** Seconds of processor time that the page's thread has taken, and the bytes of its heap, buffers included. */
async function meter(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name) => metrics.find((each) => each.name === name).value;
    const { usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage');
    return { cpu: of('TaskDuration'), heap: usedSize + embedderHeapUsedSize + backingStorageSize };
  };
}

function below(value, limit, what) {
  if (!(value < limit)) throw new Error(`${what}: ${value.toFixed(2)}, not below ${limit}`);
}

export const speed = {
  async sixty_frames_a_second_with_two_hundred_messages(browser) {
    writeFileSync(scratch('many.scenario'), 'algorithm multicast\nnodes 16\ninitiator all\ndelay 5\n');
    const page = await browser.open(), read = await meter(page);
    await page.setInputFiles('#file', scratch('many.scenario'));
    await until(page, (probe) => probe.count === 16, 'sixteen nodes');
    await page.selectOption('#speed', '0.25');
    await page.click('#forward');
    const { flight } = await page.probe();
    if (flight < 200) throw new Error(`only ${flight} messages under way`);
    await page.click('#play');
    const before = await read();
    const { frames, seconds } = await page.evaluate(() => new Promise((done) => {
      let frames = 0;
      const begin = performance.now();
      const next = () => {
        frames++;
        const seconds = (performance.now() - begin) / 1000;
        if (seconds < 1.5) requestAnimationFrame(next); else done({ frames, seconds });
      };
      requestAnimationFrame(next);
    }));
    const each = ((await read()).cpu - before.cpu) / frames * 1000;
    await page.screenshot({ path: join(shots, 'two-hundred.png') });
    console.log(`      frames   ${(frames / seconds).toFixed(0)} a second with 16 nodes and ${flight} messages under way, ${each.toFixed(1)} ms of processor time each`);
    below(each, 1000 / 60, 'milliseconds a frame');
    await page.finish();
  },

  async the_first_frame_comes_within_a_second(browser) {
    const page = await browser.open('', {}, undefined, meter);
    const { cpu } = await page.prepared();
    const loaded = await page.evaluate(() => performance.getEntriesByName('first-frame')[0]?.startTime ?? 0);
    console.log(`      loading  ${loaded.toFixed(0)} ms to the first frame, ${(cpu * 1000).toFixed(0)} ms of processor time`);
    below(cpu, 1, 'seconds of processor time until the page is ready');
    await page.finish();
  },

  async a_run_of_100_000_events_is_scrubbed(browser) {
    writeFileSync(scratch('long.scenario'), long);
    const page = await browser.open(), read = await meter(page);
    await page.setInputFiles('#file', scratch('long.scenario'));
    const { events } = await until(page, (probe) => probe.events > 100_000, 'the long run');
    let worst = 0;
    for (let i = 1; i <= 40; i++) {
      const before = await read();
      await page.evaluate((place) => new Promise((done) => {
        const slider = document.getElementById('slider');
        slider.value = String(place);
        slider.dispatchEvent(new Event('input'));
        requestAnimationFrame(() => requestAnimationFrame(done)); // drawn, too
      }), Math.floor(100_000 * ((i * 0.6180339887) % 1)));
      worst = Math.max(worst, (await read()).cpu - before.cpu);
    }
    const memory = ((await read()).heap + (await page.probe()).memory) / megabyte;
    console.log(`      jumps    in ${events} events, drawn: at most ${(worst * 1000).toFixed(0)} ms of processor time; ${memory.toFixed(0)} MB`);
    below(worst * 1000, 100, 'milliseconds a jump');
    below(memory, 200, 'megabytes');
    await page.finish();
  },
};
