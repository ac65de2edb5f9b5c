// Traces as the page opens them: that of every story as it was written, and damaged ones. A damaged trace is opened, or refused
// in one line that names the file and the line; nothing else may come of it.
import { expect } from './bench.mjs';
import { dice } from './transcripts.mjs';

const damagedRuns = 4000;

const junk = [null, true, -1, 0, 1e300, 0.5, 99999, 'x', '', '1', [], [7], {}, '\u0000', 'sent', 'leader', 9007199254740993];

/** One line with one mistake: a key gone, a value changed, bytes lost, two lines in the other order, a line twice. */
function damage(lines, draw) {
  const made = [...lines], at = draw(made.length), pick = (list) => list[draw(list.length)];
  switch (draw(6)) {
    case 0: made[at] = made[at].slice(0, draw(made[at].length)); break;
    case 1: made.splice(at, 1); break;
    case 2: made.splice(at, 0, pick(made)); break;
    case 3: [made[at], made[0]] = [made[0], made[at]]; break;
    default: {
      const json = JSON.parse(made[at]), keys = Object.keys(json), key = pick(keys);
      if (draw(4) === 0) delete json[key];
      else json[key] = draw(3) === 0 ? JSON.parse(pick(made))[key] : pick(junk);
      made[at] = JSON.stringify(json);
    }
  }
  return made;
}

/** All that the page does with a run before anybody touches it, and a walk through it. */
function show(raw, { Run, Scene }, algorithm) {
  const run = new Run(raw, algorithm), scene = new Scene(run);
  for (const part of [1, 0.5, 0.25, 1, 0]) scene.moveTo(Math.floor(run.count * part));
  scene.moveTo(run.count);
  scene.leaders();
  for (let i = 1; i <= Math.min(run.count, 50); i++) run.text(i);
  return scene.hash();
}

export function opensHostileTraces(engine, page, { cases, stories }) {
  const { openTrace, TraceError, ScenarioError } = page, traces = [];
  for (const { name, text } of cases.slice(0, stories)) {
    const raw = engine.open(name, text), trace = raw.write('trace');
    raw.close();
    const opened = openTrace(engine, 'trace', trace);
    show(opened, page, engine.algorithm(opened.description.algorithm));
    expect(opened.records.count, trace.trimEnd().split('\n').length - 1, `the records of ${name}`);
    opened.close();
    if (trace.length < 12_000) traces.push(trace.trimEnd().split('\n'));
  }
  const refusals = new Set();
  let refused = 0;
  for (let seed = 1; seed <= damagedRuns; seed++) {
    const draw = dice(seed * 104729 + 3), text = damage(traces[draw(traces.length)], draw).join('\n');
    let raw;
    try {
      raw = openTrace(engine, 'trace', text);
    } catch (error) {
      if (!(error instanceof TraceError || error instanceof ScenarioError)) throw new Error(`damaged trace ${seed}: ${error.stack}`);
      if (error instanceof TraceError && !/^trace:\d+: \S[^\n]*$/.test(error.message)) throw new Error(`damaged trace ${seed}: '${error.message}'`);
      refusals.add(error.message.replace(/^trace:\d+: /, '').replace(/'[^']*'|"[^"]*"|\d+/g, '…'));
      refused++;
      continue;
    }
    try {
      show(raw, page, engine.algorithm(raw.description.algorithm));
    } catch (error) {
      throw new Error(`damaged trace ${seed} is opened, and then ${error.stack}\n${text.slice(0, 2000)}`);
    }
    raw.close();
  }
  if (refused < damagedRuns / 4) throw new Error(`only ${refused} of ${damagedRuns} damaged traces are refused`);
  console.log(`ok    hostile  ${stories} traces opened; of ${damagedRuns} damaged ones ${refused} refused, in ${refusals.size} different lines`);
}
