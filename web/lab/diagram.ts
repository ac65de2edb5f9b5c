// The space-time diagram: a lane for each node, time to the right. What has happened is drawn in full, what will happen faintly.
import { Role, What } from '../shared/records';
import { Run } from '../shared/run';
import { Canvas, button, make } from './dom';
import { Ink, font, kindColour, leadersOf } from './ink';

const left = 46, top = 30, bottom = 8, arrowsMax = 2500, nowAt = 0.62;

export class Diagram {
  readonly element = make('figure', { class: 'diagram', role: 'group', 'aria-label': 'Space-time diagram: a lane for each node, time to the right' });
  private readonly canvas: Canvas;
  private readonly leaderIndex: Map<number, number>;
  private chosen: number | undefined; // by the reader
  private now = 0;

  constructor(readonly run: Run, seek: (time: number) => void, redraw: () => void) {
    this.canvas = new Canvas(this.element, redraw);
    this.leaderIndex = leadersOf(run);
    const zoom = (factor: number) => () => { this.chosen = Math.max(0.05, Math.min(200, this.pixelsPerDelay * factor)); redraw(); };
    this.element.append(make('div', { class: 'zoom' },
      button('−', zoom(1 / 1.6), { 'aria-label': 'Show more time' }),
      button('+', zoom(1.6), { 'aria-label': 'Show less time' }),
      button('fit', () => { this.chosen = this.whole(); redraw(); }, { 'aria-label': 'fit: show the whole run' })));
    this.canvas.element.addEventListener('pointerdown', (event) => seek(this.timeAt(this.canvas.at(event)[0])));
    this.canvas.element.addEventListener('pointermove', (event) => { if (event.buttons & 1) seek(this.timeAt(this.canvas.at(event)[0])); });
    this.canvas.element.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15)();
    }, { passive: false });
  }

  private get unit(): number { return this.run.about.delayMax || this.run.about.unit; }
  private get width(): number { return Math.max(100, this.canvas.width - left - 12); }

  private get pixelsPerDelay(): number { return this.chosen ?? Math.min(60, Math.max(this.whole(), 14)); }
  /** All of it. Otherwise a short run is shown as a whole, and of a long one so much that its messages can be told apart. */
  private whole(): number { return Math.max(0.05, this.width / Math.max(1, this.run.end / this.unit)); }

  private get from(): number {
    const shown = this.width / this.pixelsPerDelay * this.unit;
    return Math.max(0, Math.min(this.now - shown * nowAt, this.run.end - shown));
  }

  private x(time: number): number { return left + (time - this.from) / this.unit * this.pixelsPerDelay; }
  private timeAt(x: number): number { return Math.max(0, Math.min(this.run.end, this.from + (x - left) / this.pixelsPerDelay * this.unit)); }

  private y(node: number): number {
    const height = this.canvas.height - top - bottom, count = this.run.nodes;
    const gap = Math.min(64, height / count);
    return top + (height - gap * count) / 2 + (node - 0.5) * gap;
  }

  draw(time: number, cursor: number, ink: Ink): void {
    const c = this.canvas.context;
    this.now = time;
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawScale(c, ink);
    c.save();
    c.beginPath();
    c.rect(left - 2, 0, this.canvas.width - left + 2, this.canvas.height);
    c.clip();
    for (let node = 1; node <= this.run.nodes; node++) this.drawLane(c, ink, node, time);
    this.drawArrows(c, ink, cursor, time);
    this.drawViolations(c, ink, cursor);
    c.strokeStyle = ink.ink;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(this.x(time), 16);
    c.lineTo(this.x(time), this.canvas.height);
    c.stroke();
    c.restore();
    this.drawNames(c, ink);
  }

  private drawNames(c: CanvasRenderingContext2D, ink: Ink): void {
    const size = Math.max(7, Math.min(13, (this.canvas.height - top) / this.run.nodes * 0.8));
    c.font = `600 ${size}px ${font}`;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    c.fillStyle = ink.ink;
    for (let node = 1; node <= this.run.nodes; node++) c.fillText(this.run.id(node), left - 10, this.y(node));
  }

  private drawScale(c: CanvasRenderingContext2D, ink: Ink): void {
    const shown = this.width / this.pixelsPerDelay, unit = this.run.about.inUnits ? this.run.about.unit : 1e6;
    const most = shown * this.unit / unit / (this.width / 70);
    const power = 10 ** Math.floor(Math.log10(most)), step = [1, 2, 5, 10].map((f) => f * power).find((f) => f >= most) ?? power;
    c.font = `11px ${font}`;
    c.textAlign = 'center';
    c.textBaseline = 'alphabetic';
    c.lineWidth = 1;
    const first = Math.ceil(this.from / unit / step) * step;
    for (let t = first; t * unit <= this.from + shown * this.unit; t += step) {
      const x = Math.round(this.x(t * unit)) + 0.5;
      if (x > this.canvas.width - 110) break;
      c.strokeStyle = ink.line;
      c.globalAlpha = 0.6;
      c.beginPath();
      c.moveTo(x, 18);
      c.lineTo(x, this.canvas.height);
      c.stroke();
      c.globalAlpha = 1;
      c.fillStyle = ink.soft;
      c.fillText(`${Math.round(t * 1000) / 1000}${t === first ? (this.run.about.inUnits ? ' T' : ' ms') : ''}`, x, 12);
    }
  }

  /** The lane: thin and grey without a leader, dashed while electing, in the leader's colour otherwise; thick for a leader. */
  private drawLane(c: CanvasRenderingContext2D, ink: Ink, node: number, now: number): void {
    const spells = this.run.spells[node], y = this.y(node), until = this.timeAt(this.canvas.width);
    for (let i = 0; i < spells.length; i++) {
      const spell = spells[i], ends = i + 1 < spells.length ? spells[i + 1].time : this.run.end;
      if (ends < this.from || spell.time > until) continue;
      const leads = spell.role === Role.leader;
      const colour = spell.leader ? ink.leads[(this.leaderIndex.get(spell.leader) ?? 0) % ink.leads.length] : ink.faint;
      const part = (a: number, b: number, alpha: number) => {
        if (b <= a) return;
        c.globalAlpha = alpha;
        c.strokeStyle = !spell.alive ? ink.line : spell.role === Role.electing ? ink.accent : colour;
        c.lineWidth = !spell.alive ? 1 : leads ? 7 : 3;
        c.setLineDash(!spell.alive ? [1, 5] : spell.paused ? [2, 4] : spell.role === Role.electing ? [5, 4] : []);
        c.lineCap = 'butt';
        c.beginPath();
        c.moveTo(this.x(a), y);
        c.lineTo(this.x(b), y);
        c.stroke();
      };
      part(spell.time, Math.min(ends, now), 1);
      part(Math.max(spell.time, now), ends, 0.28);
      const died = i > 0 && spells[i - 1].alive && !spell.alive;
      if (died) this.drawCross(c, ink, this.x(spell.time), y, spell.time <= now ? 1 : 0.28);
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  private drawCross(c: CanvasRenderingContext2D, ink: Ink, x: number, y: number, alpha: number): void {
    c.setLineDash([]);
    c.globalAlpha = alpha;
    c.strokeStyle = ink.bad;
    c.lineWidth = 2.5;
    c.beginPath();
    c.moveTo(x - 5, y - 5);
    c.lineTo(x + 5, y + 5);
    c.moveTo(x + 5, y - 5);
    c.lineTo(x - 5, y + 5);
    c.stroke();
    c.globalAlpha = 1;
  }

  private drawArrows(c: CanvasRenderingContext2D, ink: Ink, cursor: number, now: number): void {
    const { run } = this, r = run.records, until = this.timeAt(this.canvas.width);
    const first = r.lastAt(Math.max(0, this.from - run.longestFlight) - 1) + 1, last = r.lastAt(until);
    const dense = last - first > arrowsMax * 2;
    for (let i = first, drawn = 0; i <= last && drawn < arrowsMax; i++) {
      const what = r.what(i);
      if (what !== What.sent && what !== What.copied) continue;
      const kind = r.kind(i), routine = run.isRoutine(kind);
      if (routine && (dense || this.pixelsPerDelay < 6)) continue;
      drawn++;
      this.drawArrow(c, ink, i, cursor, now);
    }
    c.globalAlpha = 1;
  }

  private drawArrow(c: CanvasRenderingContext2D, ink: Ink, i: number, cursor: number, now: number): void {
    const { run } = this, r = run.records, isCopy = r.what(i) === What.copied;
    const from = isCopy ? r.peer(i) : r.node(i), to = isCopy ? r.node(i) : r.peer(i);
    if (!from || !to) return;
    const began = r.time(i), ends = run.endOf[i], routine = run.isRoutine(r.kind(i));
    const dropped = ends !== 0 && r.what(ends) === What.dropped;
    const lostAtOnce = dropped && r.time(ends) === began;
    const arrives = lostAtOnce || !ends ? began + run.about.delayMax : r.time(ends);
    const x0 = this.x(began), y0 = this.y(from), reach = lostAtOnce ? 0.35 : 1;
    const x1 = x0 + (this.x(arrives) - x0) * reach, y1 = y0 + (this.y(to) - y0) * reach;
    const known = i <= cursor, part = known ? Math.min(1, (now - began) / Math.max(1, arrives - began) / reach) : 0;
    c.strokeStyle = c.fillStyle = kindColour(ink, run, r.kind(i));
    c.lineWidth = routine ? 0.7 : 1.6;
    const stroke = (ax: number, ay: number, bx: number, by: number, alpha: number) => {
      c.globalAlpha = alpha * (routine ? 0.55 : 1);
      c.beginPath();
      c.moveTo(ax, ay);
      c.lineTo(bx, by);
      c.stroke();
    };
    const mx = x0 + (x1 - x0) * part, my = y0 + (y1 - y0) * part;
    if (part > 0) stroke(x0, y0, mx, my, 1);
    if (part < 1) stroke(mx, my, x1, y1, 0.22);
    c.globalAlpha = part >= 1 ? 1 : 0.22;
    if (dropped) this.drawCross(c, ink, x1, y1, part >= 1 ? 0.9 : 0.22);
    else if (!routine) this.drawHead(c, x0, y0, x1, y1);
    if (!routine && this.pixelsPerDelay > 34 && Math.abs(from - to) <= 2 && run.nodes <= 9) {
      c.font = `10.5px ${font}`;
      c.textAlign = 'left';
      c.globalAlpha = known ? 1 : 0.3;
      c.fillText(`${run.kindName(r.kind(i))} ${run.id(r.subject(i))}`, (x0 + x1) / 2 + 4, (y0 + y1) / 2 - 3);
    }
  }

  private drawHead(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1, ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - ux * 8 - uy * 3.5, y1 - uy * 8 + ux * 3.5);
    c.lineTo(x1 - ux * 8 + uy * 3.5, y1 - uy * 8 - ux * 3.5);
    c.fill();
  }

  private drawViolations(c: CanvasRenderingContext2D, ink: Ink, cursor: number): void {
    for (const violation of this.run.about.violations) {
      if (!violation.record) continue;
      const x = this.x(this.run.records.time(violation.record));
      c.globalAlpha = violation.record <= cursor ? 1 : 0.25;
      c.strokeStyle = ink.bad;
      c.lineWidth = 1.5;
      c.setLineDash([3, 3]);
      c.beginPath();
      c.moveTo(x, 16);
      c.lineTo(x, this.canvas.height);
      c.stroke();
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
  }
}
