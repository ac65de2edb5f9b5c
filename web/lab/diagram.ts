// The space-time diagram: a lane for each node, time to the right. What has happened is drawn in full, what will happen faintly.
import { Role, What } from '../shared/records';
import { Run } from '../shared/run';
import { Canvas, button, make } from './dom';
import { Ink, font, kindColour, leadersOf } from './ink';

const bottom = 8, arrowsMax = 2500, nowAt = 0.62;

export class Diagram {
  readonly element = make('figure', { class: 'diagram', role: 'group', 'aria-label': 'Space-time diagram: a lane for each node, time to the right' });
  private readonly canvas: Canvas;
  private readonly leaderIndex: Map<number, number>;
  private chosen: number | undefined; // by the reader
  private now = 0;
  private readonly layer = make('canvas').getContext('2d')!;
  private drawn = '';
  private labels: [number, number, number][] = []; // where labels are in this frame: x, y, width

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

  settle(): void { this.canvas.fit(); }

  /** Of letters: more in a large diagram, which is read from afar. */
  private get scale(): number { return Math.max(1, Math.min(1.5, this.canvas.width / 640, this.canvas.height / 440)); }
  private get left(): number { return Math.round(46 * this.scale); }
  private get top(): number { return Math.round(30 * this.scale); }
  private letters(c: CanvasRenderingContext2D, size: number, weight = 400): void { c.font = `${weight} ${Math.round(size * this.scale * 2) / 2}px ${font}`; }
  private get unit(): number { return this.run.about.delayMax || this.run.about.unit; }
  private get width(): number { return Math.max(100, this.canvas.width - this.left - 12); }

  private get pixelsPerDelay(): number { return this.chosen ?? Math.min(90, Math.max(this.whole(), 14)); }
  /** All of it. Otherwise a short run is shown as a whole, and of a long one so much that its messages can be told apart. */
  private whole(): number { return Math.max(0.05, this.width / Math.max(1, this.run.end / this.unit)); }

  private get from(): number {
    const shown = this.width / this.pixelsPerDelay * this.unit;
    return Math.max(0, Math.min(this.now - shown * nowAt, this.run.end - shown));
  }

  private x(time: number): number { return this.left + (time - this.from) / this.unit * this.pixelsPerDelay; }
  private timeAt(x: number): number { return Math.max(0, Math.min(this.run.end, this.from + (x - this.left) / this.pixelsPerDelay * this.unit)); }

  private y(node: number): number {
    const height = this.canvas.height - this.top - bottom, count = this.run.nodes;
    const gap = Math.min(64 * this.scale, height / count);
    return this.top + (height - gap * count) / 2 + (node - 0.5) * gap;
  }

  draw(time: number, ink: Ink): void {
    const c = this.canvas.context, { width, height } = this.canvas;
    this.now = time;
    c.clearRect(0, 0, width, height);
    if (width === 0 || height === 0) return;
    this.drawLayer(ink);
    const now = Math.max(this.left - 14, Math.min(width, this.x(time)));
    this.showLayer(this.left - 7, now, 1);
    this.showLayer(now, width, 0.25);
    this.drawScale(c, ink);
    c.strokeStyle = ink.ink;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(this.x(time), 16 * this.scale);
    c.lineTo(this.x(time), height);
    c.stroke();
    this.drawNames(c, ink);
  }

  /** Everything in the window, drawn once: the past is a clear copy of it, the future a faint one. */
  private drawLayer(ink: Ink): void {
    const { element, width, height } = this.canvas, layer = this.layer.canvas;
    const key = [this.from, this.pixelsPerDelay, width, height, ink.paper].join();
    if (key === this.drawn) return;
    this.drawn = key;
    layer.width = element.width;
    layer.height = element.height;
    const scale = element.width / width;
    this.layer.setTransform(scale, 0, 0, scale, 0, 0);
    this.labels = [];
    for (let node = 1; node <= this.run.nodes; node++) this.drawLane(this.layer, ink, node);
    this.drawArrows(this.layer, ink);
    this.drawViolations(this.layer, ink);
  }

  private showLayer(from: number, to: number, alpha: number): void {
    const c = this.canvas.context, layer = this.layer.canvas, scale = layer.width / this.canvas.width;
    if (to - from < 0.5) return;
    c.globalAlpha = alpha;
    c.drawImage(layer, from * scale, 0, (to - from) * scale, layer.height, from, 0, to - from, this.canvas.height);
    c.globalAlpha = 1;
  }

  private drawNames(c: CanvasRenderingContext2D, ink: Ink): void {
    const size = Math.max(7, Math.min(13 * this.scale, (this.canvas.height - this.top) / this.run.nodes * 0.8));
    c.font = `600 ${size}px ${font}`;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    c.fillStyle = ink.ink;
    for (let node = 1; node <= this.run.nodes; node++) c.fillText(this.run.name(node) || this.run.id(node), this.left - 10, this.y(node), this.left - 12);
  }

  private drawScale(c: CanvasRenderingContext2D, ink: Ink): void {
    const shown = this.width / this.pixelsPerDelay, unit = this.run.about.inUnits ? this.run.about.unit : 1e6;
    const most = shown * this.unit / unit / (this.width / (70 * this.scale));
    const power = 10 ** Math.floor(Math.log10(most)), step = [1, 2, 5, 10].map((f) => f * power).find((f) => f >= most) ?? power;
    this.letters(c, 11);
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
      c.moveTo(x, 18 * this.scale);
      c.lineTo(x, this.canvas.height);
      c.stroke();
      c.globalAlpha = 1;
      c.fillStyle = ink.soft;
      c.fillText(`${Math.round(t * 1000) / 1000}${t === first ? (this.run.about.inUnits ? ' T' : ' ms') : ''}`, x, 12 * this.scale);
    }
  }

  /** The lane: thin and grey without a leader, dashed while electing, in the leader's colour otherwise; thick for a leader. */
  private drawLane(c: CanvasRenderingContext2D, ink: Ink, node: number): void {
    const spells = this.run.spells[node], y = this.y(node), until = this.timeAt(this.canvas.width);
    c.lineCap = 'butt';
    for (let i = 0; i < spells.length; i++) {
      const spell = spells[i], ends = i + 1 < spells.length ? spells[i + 1].time : this.run.end;
      if (ends < this.from || spell.time > until) continue;
      const colour = spell.leader ? ink.leads[(this.leaderIndex.get(spell.leader) ?? 0) % ink.leads.length] : ink.faint;
      c.strokeStyle = !spell.alive ? ink.line : spell.role === Role.electing ? ink.accent : colour;
      c.lineWidth = !spell.alive ? 1 : spell.role === Role.leader ? 7 : 3;
      c.setLineDash(!spell.alive ? [1, 5] : spell.paused ? [2, 4] : spell.role === Role.electing ? [5, 4] : []);
      c.beginPath();
      c.moveTo(Math.max(this.left, this.x(spell.time)), y);
      c.lineTo(this.x(ends), y);
      c.stroke();
      if (i > 0 && spells[i - 1].alive && !spell.alive) this.drawCross(c, ink, this.x(spell.time), y);
    }
    c.setLineDash([]);
  }

  private drawCross(c: CanvasRenderingContext2D, ink: Ink, x: number, y: number): void {
    c.setLineDash([]);
    c.strokeStyle = ink.bad;
    c.lineWidth = 2.5;
    c.beginPath();
    c.moveTo(x - 5, y - 5);
    c.lineTo(x + 5, y + 5);
    c.moveTo(x + 5, y - 5);
    c.lineTo(x - 5, y + 5);
    c.stroke();
  }

  private drawArrows(c: CanvasRenderingContext2D, ink: Ink): void {
    const { run } = this, r = run.records, until = this.timeAt(this.canvas.width);
    const first = r.lastAt(Math.max(0, this.from - run.longestFlight) - 1) + 1, last = r.lastAt(until);
    const dense = last - first > arrowsMax * 2;
    for (let i = first, drawn = 0; i <= last && drawn < arrowsMax; i++) {
      const what = r.what(i);
      if (what !== What.sent && what !== What.copied) continue;
      const kind = r.kind(i), routine = run.isRoutine(kind);
      if (routine && (dense || this.pixelsPerDelay < 6)) continue;
      drawn++;
      this.drawArrow(c, ink, i);
    }
    c.globalAlpha = 1;
  }

  private drawArrow(c: CanvasRenderingContext2D, ink: Ink, i: number): void {
    const { run } = this, r = run.records, isCopy = r.what(i) === What.copied;
    const from = isCopy ? r.peer(i) : r.node(i), to = isCopy ? r.node(i) : r.peer(i);
    if (!from || !to) return;
    const began = r.time(i), ends = run.endOf[i], routine = run.isRoutine(r.kind(i));
    const dropped = ends !== 0 && r.what(ends) === What.dropped;
    const lostAtOnce = dropped && r.time(ends) === began;
    const arrives = lostAtOnce || !ends ? began + run.about.delayMax : r.time(ends);
    const x0 = this.x(began), y0 = this.y(from), reach = lostAtOnce ? 0.35 : 1;
    const x1 = x0 + (this.x(arrives) - x0) * reach, y1 = y0 + (this.y(to) - y0) * reach;
    c.strokeStyle = c.fillStyle = kindColour(ink, run, r.kind(i));
    c.lineWidth = routine ? 0.7 : 1.6;
    c.globalAlpha = routine ? 0.55 : 1;
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
    c.globalAlpha = 1;
    if (dropped) this.drawCross(c, ink, x1, y1);
    else if (!routine) this.drawHead(c, x0, y0, x1, y1);
    if (!routine && this.pixelsPerDelay > 34 && run.nodes <= 9) this.drawLabel(c, i, (x0 + x1) / 2 + 4, (y0 + y1) / 2 - 3);
  }

  /** If there is room for it. */
  private drawLabel(c: CanvasRenderingContext2D, i: number, x: number, y: number): void {
    const text = `${this.run.kindName(this.run.records.kind(i))} ${this.run.id(this.run.records.subject(i))}`;
    this.letters(c, 10.5);
    c.textAlign = 'left';
    const width = c.measureText(text).width;
    if (this.labels.some(([lx, ly, lw]) => Math.abs(ly - y) < 12 * this.scale && x < lx + lw + 6 && lx < x + width + 6)) return;
    this.labels.push([x, y, width]);
    c.fillText(text, x, y);
  }

  private drawHead(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1, ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - ux * 8 - uy * 3.5, y1 - uy * 8 + ux * 3.5);
    c.lineTo(x1 - ux * 8 + uy * 3.5, y1 - uy * 8 - ux * 3.5);
    c.fill();
  }

  private drawViolations(c: CanvasRenderingContext2D, ink: Ink): void {
    c.strokeStyle = ink.bad;
    c.lineWidth = 1.5;
    c.setLineDash([3, 3]);
    for (const violation of this.run.about.violations) {
      if (!violation.record) continue;
      const x = this.x(this.run.records.time(violation.record));
      c.beginPath();
      c.moveTo(x, 16 * this.scale);
      c.lineTo(x, this.canvas.height);
      c.stroke();
    }
    c.setLineDash([]);
  }
}
