// Time: where the page is in its runs. One clock serves one run or two; the first is the one that steps count in.
import { What } from '../shared/records';
import { Run } from '../shared/run';
import { Scene } from '../shared/scene';

export const speeds = [0.25, 0.5, 1, 2, 4, 10];

export class Clock {
  time = 0;
  playing = false;
  speed = 1;
  private last = 0;

  constructor(readonly scenes: Scene[], private readonly changed: (stepped: boolean) => void) {}

  private get scene(): Scene { return this.scenes[0]; }
  private get run(): Run { return this.scene.run; }
  get end(): number { return Math.max(...this.scenes.map((scene) => scene.run.end)); }

  seek(time: number): void {
    this.time = Math.max(0, Math.min(time, this.end));
    for (const scene of this.scenes) scene.moveTo(scene.run.records.lastAt(this.time));
    this.changed(true);
  }

  /** To a record of the first run; another run follows to the same time. */
  seekRecord(record: number): void {
    const target = Math.max(0, Math.min(record, this.run.count));
    this.time = target ? this.run.records.time(target) : 0;
    this.scene.moveTo(target);
    for (const scene of this.scenes.slice(1)) scene.moveTo(scene.run.records.lastAt(this.time));
    this.changed(true);
  }

  /** Steps that have nothing but heartbeats are passed over. */
  forward(): void {
    this.playing = false;
    const { run } = this;
    let step = run.stepOf(this.scene.cursor);
    if (step >= 0 && this.scene.cursor < run.lastOfStep(step)) return this.seekRecord(run.lastOfStep(step));
    do step++; while (step < run.steps.length && run.quiet[step]);
    if (step < run.steps.length) this.seekRecord(run.lastOfStep(step));
    else this.seek(this.end);
  }

  back(): void {
    this.playing = false;
    const { run } = this;
    let step = run.stepOf(this.scene.cursor);
    const between = step >= 0 && this.time > run.records.time(run.lastOfStep(step));
    if (!between) step--;
    while (step >= 0 && run.quiet[step]) step--;
    this.seekRecord(step < 0 ? 0 : run.lastOfStep(step));
  }

  private nextRecord(wanted: (record: number) => boolean): boolean {
    for (let i = this.scene.cursor + 1; i <= this.run.count; i++) {
      if (!wanted(i)) continue;
      this.playing = false;
      this.seekRecord(i);
      return true;
    }
    return false;
  }

  /** False if there is none after this. */
  nextLeader(): boolean {
    const next = this.run.leads.find((record) => record > this.scene.cursor);
    return next !== undefined && this.nextRecord((i) => i === next);
  }

  nextViolation(): boolean {
    return this.nextRecord((i) => this.run.records.what(i) === What.violated);
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.seek(0);
    this.last = 0;
    this.changed(true);
  }

  /** How long it is until something other than heartbeats happens in any of the runs. */
  private quietFor(): number {
    let soonest = Infinity;
    for (const { run, cursor } of this.scenes) {
      let step = run.stepOf(cursor) + 1;
      while (step < run.steps.length && run.quiet[step]) step++;
      if (step < run.steps.length) soonest = Math.min(soonest, run.records.time(run.steps[step]) - this.time);
    }
    return soonest === Infinity ? this.end - this.time : soonest;
  }

  /** Called for each frame. Quiet stretches pass in about a second and a half. */
  tick(now: number): void {
    if (!this.playing) return;
    const passed = this.last ? Math.min(0.1, (now - this.last) / 1000) : 0;
    this.last = now;
    const delay = Math.max(1, ...this.scenes.map((scene) => scene.run.about.delayMax));
    const quiet = this.quietFor(), usual = delay * this.speed * 0.8;
    const rate = quiet > 3 * delay ? Math.max(usual, quiet / 0.9 * Math.max(1, this.speed)) : usual;
    this.time = Math.min(this.end, this.time + rate * passed);
    for (const scene of this.scenes) scene.moveTo(scene.run.records.lastAt(this.time));
    if (this.time >= this.end) this.playing = false;
    this.changed(!this.playing);
  }
}
