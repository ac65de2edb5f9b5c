// Back and forth through a run of 100,000 events: whatever the way, the same place is the same picture. The longest jump is printed; what is
// judged is processor time, which a busy machine does not change.
import { performance } from 'node:perf_hooks';
import { expect } from './bench.mjs';

export const long = 'algorithm raft\nnodes 16\nleader 16\nloss 2%\ncrash 16@500\nrestart 16@900\npartition 1,2,3,4,5,6|7,8,9,10,11,12,13,14,15,16@2000..2600\nsettle 200000\nuntil 90000\n';
const megabyte = 1 << 20;

export function stepping(engine, Run, Scene) {
  const before = process.memoryUsage();
  const raw = engine.open('long', long), run = new Run(raw, engine.algorithm('raft')), scene = new Scene(run);
  if (run.about.events < 100000) throw new Error(`the long run has only ${run.about.events} events`);
  const hashes = new Map();
  const visit = (cursor) => {
    scene.moveTo(cursor);
    const hash = scene.hash();
    expect(hash, hashes.get(cursor) ?? hash, `the state at record ${cursor}, reached another way`);
    hashes.set(cursor, hash);
  };
  const places = Array.from({ length: 40 }, (_, i) => Math.floor(run.count * ((i * 0.6180339887) % 1)));
  for (const place of [...places].sort((a, b) => a - b)) visit(place); // forward, once
  for (let i = 0; i < 1000; i++) visit(places[(i * 7) % places.length]); // in every direction
  const middle = places[5];
  for (let i = 0; i < 1000; i++) visit(middle - 500 + i);
  for (let i = 999; i >= 0; i--) visit(middle - 500 + i); // and back, one by one
  if (new Set(hashes.values()).size < hashes.size * 0.99) throw new Error('different places have the same hash');
  let worst = 0;
  const cpu = process.cpuUsage();
  for (let i = 0; i < 1000; i++) {
    const begin = performance.now();
    scene.moveTo(Math.floor(run.count * ((i * 0.6180339887) % 1)));
    worst = Math.max(worst, performance.now() - begin);
  }
  const spent = process.cpuUsage(cpu), average = (spent.user + spent.system) / 1e6;
  if (average > 100) throw new Error(`a jump takes ${average.toFixed(0)} ms of processor time`);
  const after = process.memoryUsage(), used = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  const memory = engine.memoryBytes() + Math.max(0, used);
  if (memory > 200 * megabyte) throw new Error(`${Math.round(memory / megabyte)} MB for a run of ${run.about.events} events`);
  console.log(`ok    steps    ${run.about.events} events, ${run.count} records: 3,000 moves end where they should; ` +
    `a jump takes at most ${worst.toFixed(1)} ms, memory ${Math.round(memory / megabyte)} MB`);
  raw.close();
}
