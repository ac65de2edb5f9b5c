// The counts so far beside the literature's formula, and the algorithm's promises as lights.
import { Promised } from '../shared/engine';
import { Role, What } from '../shared/records';
import { Run } from '../shared/run';
import { Scene } from '../shared/scene';
import { make, say } from './dom';
import { Prediction, predict } from './formulas';
import { Ink, kindColour } from './ink';

/** Claims from this bit on are those of deciders and of stores: no other algorithm could promise them. */
const rarelyPromised = 1 << 7;

/** How long nobody has led until now, since somebody first did. */
function leaderless(run: Run, now: number): number {
  const changes: [number, number][] = [];
  for (const spells of run.spells.slice(1)) {
    for (let i = 0; i < spells.length; i++) {
      if (spells[i].role !== Role.leader || spells[i].time > now) continue;
      changes.push([spells[i].time, 1], [i + 1 < spells.length ? spells[i + 1].time : Infinity, -1]);
    }
  }
  changes.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let leaders = 0, sum = 0, since = -1;
  for (const [time, change] of changes) {
    if (leaders === 0 && since >= 0) sum += Math.max(0, Math.min(time, now) - since);
    leaders += change;
    if (leaders === 0) since = time;
  }
  return leaders === 0 && since >= 0 && since < now ? sum + now - since : sum;
}

export class Facts {
  readonly element = make('section', { class: 'facts', 'aria-label': 'Counts and promises', tabindex: '0' });
  private readonly total = make('p');
  private readonly kinds = make('p', { class: 'kinds' });
  private readonly formula = make('p', { class: 'kinds' });
  private readonly lights = make('ul', { class: 'lights', 'aria-label': 'Promises' });
  private readonly prediction: Prediction | undefined;
  private readonly promises: Promised[];
  private shown = -1;
  private readonly counts: [HTMLElement, HTMLElement, number][] = [];

  /** What this run promised is lit; of the rest, what any election may promise is named. */
  constructor(private readonly scene: Scene, promises: Promised[]) {
    this.promises = promises.filter((each) => each.claims === 0 || each.claims < rarelyPromised || (scene.run.about.claims & each.claims) !== 0 || scene.run.about.violations.some(({ kind }) => (kind & each.violations) !== 0));
    this.prediction = predict(scene.run);
    this.element.append(make('div', { class: 'counts' }, this.total, this.kinds, this.formula), this.lights);
    this.promises.forEach(() => this.lights.append(make('li')));
    const r = scene.run.records, used = new Set<number>();
    for (let i = 1; i <= scene.run.count; i++) if (r.what(i) === What.sent) used.add(r.kind(i));
    scene.run.algorithm.kinds.forEach((name, i) => {
      if (!used.has(i + 1)) return;
      const swatch = make('span', { class: 'swatch' }), count = make('b');
      this.counts.push([count, swatch, i + 1]);
      this.kinds.append(make('i', {}, swatch, `${name} `, count), ' ');
    });
  }

  /** The swatches, when the theme has changed. */
  paint(ink: Ink): void {
    for (const [, swatch, kind] of this.counts) swatch.style.background = kindColour(ink, this.scene.run, kind);
    this.shown = -1;
  }

  draw(): void {
    const { state, run } = this.scene;
    if (this.shown === state.cursor) return;
    this.shown = state.cursor;
    const gap = leaderless(run, run.records.time(Math.max(1, state.cursor)));
    const extra = [gap ? `${run.timeText(gap)}${run.about.inUnits ? ' T' : ''} without a leader` : '', state.lost ? `${state.lost} did not arrive` : '', state.failedHops ? `${state.failedHops} failed hops` : ''].filter((t) => t);
    say(this.total, `${state.sentByKind[0]} of ${run.about.messages || state.sentByKind[0]} messages, ${state.flight.size} under way${extra.length ? `; ${extra.join(', ')}` : ''}`);
    for (const [count, , kind] of this.counts) say(count, String(state.sentByKind[kind]));
    this.drawFormula();
    this.drawLights();
  }

  private drawFormula(): void {
    if (!this.prediction) {
      say(this.formula, 'Literature: no closed formula for this election');
      return;
    }
    const { text, messages, reference } = this.prediction;
    const { run } = this.scene, atEnd = this.scene.cursor === run.count;
    const verdict = messages === undefined ? '' : ` = ${messages}${atEnd ? (messages === run.about.messages ? ', as counted' : `, counted ${run.about.messages}`) : ''}`;
    say(this.formula, `Literature: ${text}${verdict} (${reference})`);
  }

  private drawLights(): void {
    const { state, run } = this.scene;
    this.promises.forEach((promise, i) => {
      const light = this.lights.children[i] as HTMLElement;
      const claimed = promise.claims === 0 || (run.about.claims & promise.claims) !== 0;
      const broken = (state.violated & promise.violations) !== 0;
      const name = broken ? 'broken' : claimed ? 'holds' : 'none';
      if (light.className !== name) light.className = name;
      say(light, `${promise.text}${broken ? ': broken' : claimed ? '' : ' (not promised)'}`);
    });
  }
}
