// The module tells what the program tells, byte for byte: every story as its golden transcript, and random runs with faults, under
// node and in the browser.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from './bench.mjs';

const randomRuns = Number(process.env.ELECTOR_PAGE_RUNS ?? 1000);
const batch = 250;

/** Any generator would do; this one gives the same runs each time. */
export function dice(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * below);
  };
}

/** A scenario with faults; now and then one that makes no sense, which both must refuse in the same words. */
function randomScenario(catalogue, seed) {
  const draw = dice(seed * 7919 + 17), pick = (list) => list[draw(list.length)], once = (n) => draw(n) === 0;
  const algorithm = pick(catalogue.algorithms), count = 2 + draw(7), time = () => (draw(200) / 4).toString();
  const node = () => String(1 + draw(count + (once(40) ? 1 : 0)));
  const lines = [`algorithm ${algorithm.name}`, `nodes ${count}`, `seed ${seed}`, 'until 150'];
  if (once(2)) lines.push(`delay ${pick(['1', '0.5..2', 'exp:1..8', '5..15ms'])}`);
  if (once(3)) lines.push(`loss ${pick(['5%', '0.2', '0.01'])}`);
  if (once(5)) lines.push('dup 10%');
  if (once(5)) lines.push('reorder 0.3');
  if (once(3)) lines.push(`leader ${node()}`);
  if (once(2)) lines.push(`crash ${node()}@${time()}`);
  if (once(4)) { const dies = node(), at = draw(100) / 4; lines.push(`crash ${dies}@${at}`, `${pick(['restart', 'wipe'])} ${dies}@${at + 7.5}`); }
  if (once(3)) lines.push(`cut ${node()}>${node()}@${time()}`);
  if (once(5)) lines.push(`slow ${node()}>${node()}=${1 + draw(9)}@${time()}`);
  if (once(4) && count > 2) lines.push(`partition 1|2@${draw(20)}..${20 + draw(60)}`);
  if (once(4)) { const at = draw(80); lines.push(`pause ${node()}@${at}..${at + 1 + draw(30)}`); }
  if (once(3)) lines.push(`detect ${pick(['1', '2', '4.5'])}`);
  else if (once(4)) lines.push(`detector ${pick(catalogue.detectors).name}:interval=5`);
  if (once(5)) lines.push(`clock ${node()}=${pick(['1.01', '0.97', '1.2'])}`);
  if (once(6)) lines.push(`jump ${node()}@${time()}=${pick(['+5', '-3'])}`);
  if (once(3)) lines.push(`initiator ${pick(['all', node(), `${node()}@${time()}`])}`);
  if (once(4)) lines.push(`transfer ${node()}@${time()}`);
  if (once(6)) lines.push('resource 3');
  return `${lines.join('\n')}\n`;
}

function ofProgram(path) {
  const { stdout, stderr } = spawnSync(process.env.ELECTOR, ['sim', path], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return stderr.replace(/^elector sim: /, '').trimEnd() || stdout;
}

function ofModule(engine, name, text) {
  let run;
  try {
    run = engine.open(name, text);
  } catch (error) {
    return error.message;
  }
  try { return run.write('transcript'); } finally { run.close(); }
}

function differs(name, told, expected) {
  if (told === expected) return false;
  const a = expected.split('\n'), b = told.split('\n'), line = a.findIndex((text, i) => text !== b[i]);
  console.log(`FAIL  ${name}, line ${line + 1}\n  program  ${a[line]}\n  page     ${b[line]}`);
  return true;
}

export function collect(engine) {
  const cases = readdirSync('scenarios', { recursive: true }).filter((name) => name.endsWith('.scenario')).sort().map((name) => ({
    name: `scenarios/${name}`, text: readFileSync(`scenarios/${name}`, 'utf8'),
    told: readFileSync(`scenarios/golden/${name.replace(/\.scenario$/, '.txt')}`, 'utf8'),
  }));
  const stories = cases.length;
  const path = join(process.env.SCRATCH, 'random.scenario');
  for (let seed = 1; seed <= randomRuns; seed++) {
    const text = randomScenario(engine.catalogue, seed);
    writeFileSync(path, text);
    cases.push({ name: path, text, told: ofProgram(path), seed });
  }
  return { cases, stories };
}

export function compareUnderNode(engine, { cases, stories }) {
  const wrong = cases.filter(({ name, text, told, seed }) => differs(seed ? `random run ${seed}` : name, ofModule(engine, name, text), told));
  if (wrong[0]?.seed) console.log(wrong[0].text);
  expect(wrong.length, 0, 'transcripts under node that differ');
  const refused = cases.filter(({ told, name }) => told.startsWith(name)).length;
  if (refused * 3 > randomRuns) throw new Error(`${refused} of ${randomRuns} random runs are refused; they test nothing`);
  console.log(`ok    node     ${stories} stories and ${randomRuns} random runs as the program tells them (${refused} refused alike)`);
}

export async function compareInBrowser(page, { cases }) {
  let wrong = 0;
  for (let at = 0; at < cases.length; at += batch) {
    const part = cases.slice(at, at + batch);
    const told = await page.evaluate((list) => list.map(({ name, text }) => {
      try { return window.lab.transcript(name, text); } catch (error) { return error.message; }
    }), part.map(({ name, text }) => ({ name, text })));
    part.forEach((each, i) => { if (differs(each.name, told[i], each.told)) wrong++; });
  }
  expect(wrong, 0, 'transcripts in the browser that differ');
}

export const version = () => execFileSync(process.env.ELECTOR, ['--version'], { encoding: 'utf8' }).trim();
