// The stage: nodes on a circle in ring order, links, messages under way, roles, terms, leases and suspicions at one instant.
// Everything is drawn on a canvas; over each node lies a button, for the keyboard, for screen readers and for fingers.
import { Role, roleNames, What, Reason } from '../shared/records';
import { Scene } from '../shared/scene';
import { Canvas, button, make } from './dom';
import { Ink, font, kindColour, leadersOf } from './ink';

export interface StageActions {
  node(node: number, at: DOMRect): void;
  link(from: number, to: number, at: DOMRect): void;
  partition(side: number[], other: number[]): void;
}

interface Point { x: number; y: number }
interface Box { left: number; top: number; right: number; bottom: number }
interface Label { message: number; at: Point; text: string; colour: string }

const meet = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const labelledNodesMax = 12, labelledMessagesMax = 28, linkedNodesMax = 20;

export class Stage {
  readonly element = make('figure', { class: 'stage', role: 'group', 'aria-label': 'Stage: nodes, links and messages under way' });
  private readonly canvas: Canvas;
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly hint = make('figcaption', { class: 'hint' });
  private places: Point[] = [];
  private radius = 24;
  private leaderIndex = new Map<number, number>();
  private drag: { from: Point; to: Point } | undefined;
  private labelledAt = -1;
  private scale = 1; // of letters and nodes: more on a large stage, which is read from afar
  private taken: Box[] = []; // by nodes and letters in this frame
  private readonly sides = new Map<number, number>(); // where each message had its label in the last frame

  constructor(readonly scene: Scene, private readonly actions: StageActions, private redraw: () => void) {
    this.canvas = new Canvas(this.element, () => { this.layOut(); this.redraw(); });
    this.leaderIndex = leadersOf(scene.run);
    for (let node = 1; node <= scene.run.nodes; node++) {
      const each = button('', () => this.actions.node(node, each.getBoundingClientRect()), { class: 'node', 'aria-haspopup': 'menu' });
      this.buttons.push(each);
      this.element.append(each);
    }
    this.hint.textContent = scene.run.about.scripted ? 'Scripted move by move' : 'Click a node or a link; drag across to partition';
    this.element.append(this.hint);
    this.listen();
    this.layOut();
  }

  /** At once, so that a click that comes before the next frame finds what is below it. */
  settle(): void {
    if (this.canvas.fit()) this.layOut();
  }

  /** On an ellipse as large as its nodes and their letters leave it; three nodes need less height than many. */
  private layOut(): void {
    const { width } = this.canvas, height = this.canvas.height - 14, count = this.scene.run.nodes;
    this.scale = Math.max(1, Math.min(1.6, width / 560, height / 440));
    const labelled = count <= labelledNodesMax, most = Math.max(14, Math.min(26 * this.scale, height / 11));
    const sides = labelled ? most + 26 * this.scale : 34, ends = labelled ? most + 33 * this.scale : 34;
    const unit = Array.from({ length: count }, (_, i) => -Math.PI / 2 + 2 * Math.PI * i / count).map((angle) => ({ x: Math.cos(angle), y: Math.sin(angle) }));
    const top = Math.min(...unit.map((p) => p.y)), bottom = Math.max(...unit.map((p) => p.y));
    const high = Math.max(30, (height - 2 * ends) / Math.max(0.5, bottom - top)), wide = Math.max(30, width / 2 - sides);
    const ry = Math.min(high, wide * 1.15), rx = Math.min(wide, ry * 1.7);
    this.places = unit.map((p) => ({ x: width / 2 + rx * p.x, y: height / 2 + (labelled ? 5 : 0) + ry * (p.y - (top + bottom) / 2) }));
    const gap = Math.min(...this.places.map((p, i) => { const q = this.places[(i + 1) % count]; return count > 1 ? Math.hypot(p.x - q.x, p.y - q.y) : 99; }));
    this.radius = Math.max(7, Math.min(most, gap * 0.31));
    this.buttons.forEach((each, i) => {
      const size = `${Math.max(24, 2 * this.radius)}px`;
      each.style.left = `${this.places[i].x}px`;
      each.style.top = `${this.places[i].y}px`;
      each.style.width = each.style.height = size;
    });
  }

  // ---- The pointer: a click on a link, or a line across the stage ----

  private listen(): void {
    const canvas = this.canvas.element;
    canvas.addEventListener('pointerdown', (event) => {
      const [x, y] = this.canvas.at(event);
      this.drag = { from: { x, y }, to: { x, y } };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = this.canvas.at(event);
      if (this.drag) {
        this.drag.to = { x, y };
        this.redraw();
      } else {
        canvas.style.cursor = this.linkAt({ x, y }) ? 'pointer' : 'crosshair';
      }
    });
    canvas.addEventListener('pointerup', (event) => {
      const drag = this.drag;
      this.drag = undefined;
      if (!drag) return;
      if (Math.hypot(drag.to.x - drag.from.x, drag.to.y - drag.from.y) > 24) this.finishDrag(drag);
      else this.click(drag.to, event);
      this.redraw();
    });
    canvas.addEventListener('pointercancel', () => { this.drag = undefined; this.redraw(); });
  }

  private finishDrag({ from, to }: { from: Point; to: Point }): void {
    const side: number[] = [], other: number[] = [];
    this.places.forEach((p, i) => {
      const cross = (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
      (cross > 0 ? side : other).push(i + 1);
    });
    if (side.length && other.length) this.actions.partition(side, other);
  }

  private click(point: Point, event: PointerEvent): void {
    const link = this.linkAt(point);
    if (link) this.actions.link(link[0], link[1], new DOMRect(event.clientX, event.clientY, 1, 1));
  }

  private links(): [number, number][] {
    const { run } = this.scene, count = run.nodes, all: [number, number][] = [];
    if (run.algorithm.ring) for (let i = 1; i <= count; i++) all.push([i, i % count + 1]);
    else for (let i = 1; i <= count; i++) for (let k = i + 1; k <= count; k++) all.push([i, k]);
    return all;
  }

  private linkAt(p: Point): [number, number] | undefined {
    let best: [number, number] | undefined, nearest = 9;
    for (const [a, b] of this.links()) {
      const from = this.places[a - 1], to = this.places[b - 1];
      const dx = to.x - from.x, dy = to.y - from.y, length = dx * dx + dy * dy;
      const along = length ? ((p.x - from.x) * dx + (p.y - from.y) * dy) / length : 0;
      if (along < 0.05 || along > 0.95) continue;
      const distance = Math.hypot(from.x + along * dx - p.x, from.y + along * dy - p.y);
      if (distance < nearest) { nearest = distance; best = [a, b]; }
    }
    return best;
  }

  // ---- Drawing ----

  draw(time: number, ink: Ink): void {
    const c = this.canvas.context;
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.lineCap = 'round';
    this.taken = [];
    this.drawLinks(c, ink);
    this.drawSlow(c, ink, time);
    this.drawDropped(c, ink, time);
    const labels = this.drawMessages(c, ink, time);
    this.taken.push(...this.places.map(({ x, y }) => this.around(x, y, this.radius + 2)));
    for (let node = 1; node <= this.scene.run.nodes; node++) this.drawNode(c, ink, node, time);
    if (labels.length <= labelledMessagesMax && this.scene.run.nodes <= labelledNodesMax) this.drawLabels(c, ink, labels);
    if (this.drag) this.drawDrag(c, ink);
    this.label();
  }

  private drawLinks(c: CanvasRenderingContext2D, ink: Ink): void {
    const few = this.scene.run.nodes <= linkedNodesMax || this.scene.run.algorithm.ring;
    const someCut = this.scene.state.broken.includes(1);
    c.lineWidth = 1;
    for (const [a, b] of this.links()) {
      const there = someCut && this.scene.isCut(a, b), back = someCut && this.scene.isCut(b, a);
      if (!few && !there && !back) continue;
      const from = this.places[a - 1], to = this.places[b - 1];
      c.strokeStyle = there || back ? ink.bad : ink.line;
      c.globalAlpha = there && back ? 0.55 : 1;
      c.setLineDash(there || back ? [2, 6] : []);
      c.beginPath();
      c.moveTo(from.x, from.y);
      c.lineTo(to.x, to.y);
      c.stroke();
      if (there !== back) this.drawOneWay(c, ink, there ? from : to, there ? to : from);
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  /** How much longer messages take, beside the middle of a slow link. */
  private drawSlow(c: CanvasRenderingContext2D, ink: Ink, time: number): void {
    const { run } = this.scene;
    for (const { from, to, extra, begin, finish } of run.about.slows) {
      if (time < begin || time >= finish) continue;
      const a = this.along(from, to, 0), b = this.along(from, to, 1), middle = this.along(from, to, 0.5);
      c.strokeStyle = c.fillStyle = ink.soft;
      c.lineWidth = 2;
      c.setLineDash([10, 5]);
      c.beginPath();
      c.moveTo(a.x, a.y);
      c.lineTo(b.x, b.y);
      c.stroke();
      this.letters(c, 11);
      c.textAlign = 'center';
      c.textBaseline = 'middle';
      const text = `${run.id(from)} → ${run.id(to)}: +${run.timeText(extra)}`, width = c.measureText(text).width;
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, nx = -(b.y - a.y) / length, ny = (b.x - a.x) / length;
      const away = 6 + Math.abs(nx) * width / 2 + Math.abs(ny) * 7 * this.scale; // so that the line does not run through it
      const x = middle.x + nx * away, y = middle.y + ny * away;
      c.setLineDash([]);
      this.letter(c, ink, text, x, y, ink.soft);
      this.taken.push({ left: x - width / 2, right: x + width / 2, top: y - 7, bottom: y + 7 });
    }
    c.setLineDash([]);
    c.lineWidth = 1;
  }

  private around(x: number, y: number, r: number): Box { return { left: x - r, right: x + r, top: y - r, bottom: y + r }; }
  private letters(c: CanvasRenderingContext2D, size: number, weight = 400): void { c.font = `${weight} ${Math.round(size * this.scale)}px ${font}`; }

  /** On whatever is below it. */
  private letter(c: CanvasRenderingContext2D, ink: Ink, text: string, x: number, y: number, colour: string): void {
    c.strokeStyle = ink.paper;
    c.lineWidth = 4;
    c.lineJoin = 'round';
    c.strokeText(text, x, y);
    c.fillStyle = colour;
    c.fillText(text, x, y);
    c.lineWidth = 1;
  }

  /** A bar across the end that is not reached. */
  private drawOneWay(c: CanvasRenderingContext2D, ink: Ink, from: Point, to: Point): void {
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
    const x = to.x - ux * (this.radius + 12), y = to.y - uy * (this.radius + 12);
    c.setLineDash([]);
    c.strokeStyle = ink.bad;
    c.lineWidth = 3;
    c.beginPath();
    c.moveTo(x - uy * 7, y + ux * 7);
    c.lineTo(x + uy * 7, y - ux * 7);
    c.stroke();
    c.lineWidth = 1;
  }

  /** On the right of the line, so that the two directions of a link do not meet. */
  private along(from: number, to: number, part: number): Point {
    const a = this.places[from - 1], b = this.places[to - 1];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, ux = (b.x - a.x) / length, uy = (b.y - a.y) / length;
    const start = this.radius, end = length - this.radius, at = start + (end - start) * part;
    const side = this.scene.run.nodes > 24 ? 2 : 5;
    return { x: a.x + ux * at - uy * side, y: a.y + uy * at + ux * side };
  }

  /** The dots; returns their labels. */
  private drawMessages(c: CanvasRenderingContext2D, ink: Ink, time: number): Label[] {
    const { run, state } = this.scene, r = run.records;
    const labels: Label[] = [];
    const size = run.nodes > 24 ? 3 : 5 * this.scale;
    for (const i of state.flight) {
      const began = r.time(i), ends = run.endOf[i];
      const until = ends ? r.time(ends) : began + run.about.delayMax;
      const part = until > began ? Math.min(1, Math.max(0, (time - began) / (until - began))) : 0;
      const isCopy = r.what(i) === What.copied, kind = r.kind(i);
      const from = isCopy ? r.peer(i) : r.node(i), to = isCopy ? r.node(i) : r.peer(i);
      if (!from || !to || from === to) continue;
      const p = this.along(from, to, part), routine = run.isRoutine(kind);
      c.fillStyle = kindColour(ink, run, kind);
      c.globalAlpha = routine ? 0.6 : 1;
      c.beginPath();
      c.arc(p.x, p.y, routine ? size * 0.6 : size, 0, 7);
      c.fill();
      if (routine) continue;
      labels.push({ message: i, at: p, text: `${run.kindName(kind)} ${run.id(r.subject(i))}`, colour: c.fillStyle });
      this.taken.push(this.around(p.x, p.y, size - 1));
    }
    c.globalAlpha = 1;
    return labels;
  }

  /** Each beside its dot where there is room, and where it was in the last frame if there still is; without room, there is no label. */
  private drawLabels(c: CanvasRenderingContext2D, ink: Ink, labels: Label[]): void {
    this.letters(c, 11, 600);
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    const half = 6 * this.scale, off = 8 * this.scale;
    for (const { message, at: { x, y }, text, colour } of labels) {
      const width = c.measureText(text).width;
      const places = [[x + off, y], [x - off - width, y], [x - width / 2, y - off - half], [x - width / 2, y + off + half], [x + off, y - off], [x + off, y + off], [x - off - width, y - off], [x - off - width, y + off]];
      const before = this.sides.get(message), order = before === undefined ? places.map((_, i) => i) : [before, ...places.map((_, i) => i)];
      const side = order.find((i) => {
        const box = { left: places[i][0] - 2, right: places[i][0] + width + 2, top: places[i][1] - half, bottom: places[i][1] + half };
        return box.left > 0 && box.right < this.canvas.width && box.top > 0 && box.bottom < this.canvas.height && !this.taken.some((each) => meet(each, box));
      });
      if (side === undefined) continue;
      this.sides.set(message, side);
      const [left, middle] = places[side];
      this.taken.push({ left: left - 4, right: left + width + 4, top: middle - half, bottom: middle + half });
      this.letter(c, ink, text, left, middle, colour);
    }
    if (this.sides.size > 2000) this.sides.clear();
  }

  /** A message that was lost a moment ago goes out on its way. */
  private drawDropped(c: CanvasRenderingContext2D, ink: Ink, time: number): void {
    const { run, state } = this.scene, r = run.records, fade = run.about.delayMax * 0.7;
    for (let i = state.cursor, looked = 0; i > 0 && looked < 600 && time - r.time(i) < fade; i--, looked++) {
      if (r.what(i) !== What.dropped || run.isRoutine(r.kind(i))) continue;
      const age = (time - r.time(i)) / fade;
      const dead = r.reason(i) === Reason.dead;
      const p = this.along(r.peer(i), r.node(i), dead ? 1 : 0.1 + 0.35 * age);
      c.globalAlpha = 1 - age;
      c.strokeStyle = ink.bad;
      c.lineWidth = 2;
      c.beginPath();
      c.moveTo(p.x - 5, p.y - 5);
      c.lineTo(p.x + 5, p.y + 5);
      c.moveTo(p.x + 5, p.y - 5);
      c.lineTo(p.x - 5, p.y + 5);
      c.stroke();
    }
    c.globalAlpha = 1;
    c.lineWidth = 1;
  }

  private leadColour(ink: Ink, leader: number): string {
    return ink.leads[(this.leaderIndex.get(leader) ?? 0) % ink.leads.length];
  }

  private drawNode(c: CanvasRenderingContext2D, ink: Ink, node: number, time: number): void {
    const { run, state } = this.scene, { x, y } = this.places[node - 1], radius = this.radius;
    const alive = state.alive[node] === 1, role = state.role[node], leader = state.leader[node];
    const leads = alive && role === Role.leader;
    const colour = leader ? this.leadColour(ink, leader) : ink.soft;
    if (leads) this.drawLease(c, ink, node, time, colour);
    c.beginPath();
    if (this.isStore(node)) c.roundRect(x - radius, y - radius * 0.85, radius * 2, radius * 1.7, 5);
    else c.arc(x, y, radius, 0, 7);
    c.fillStyle = alive ? ink.surface : ink.raised;
    c.fill();
    if (alive && leader) {
      c.globalAlpha = leads ? 1 : 0.22;
      c.fillStyle = colour;
      c.fill();
      c.globalAlpha = 1;
    }
    c.lineWidth = leads ? 3 : 2;
    c.strokeStyle = !alive ? ink.dead : role === Role.electing ? ink.accent : leader ? colour : ink.soft;
    c.setLineDash(alive && role === Role.electing ? [5, 4] : []);
    c.stroke();
    c.setLineDash([]);
    if (leads) this.drawCrown(c, ink, x, y - radius - 4, colour);
    if (!alive) this.drawCross(c, ink, x, y, radius);
    c.fillStyle = !alive ? ink.faint : leads ? ink.onLead : ink.ink;
    const id = run.id(node);
    c.font = `600 ${Math.max(8, Math.min(15 * this.scale, radius * (id.length > 3 ? 1.6 / id.length * 1.2 : 0.72)))}px ${font}`;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillText(id, x, y + 0.5);
    if (alive && state.paused[node]) this.drawPaused(c, ink, x, y, radius);
    this.drawSuspicion(c, ink, node, x, y, radius);
    if (run.nodes <= labelledNodesMax || (leads && run.nodes <= 32)) this.drawState(c, ink, node, x, y);
  }

  /** The last one, where candidates meet; it never stands. */
  private isStore(node: number): boolean { return this.scene.run.algorithm.store && node === this.scene.run.nodes; }

  private drawLease(c: CanvasRenderingContext2D, ink: Ink, node: number, time: number, colour: string): void {
    const { state } = this.scene, { x, y } = this.places[node - 1];
    const length = state.leaseEnd[node] - state.leaseFrom[node];
    if (state.leaseEnd[node] === 0 || length <= 0) return;
    const left = Math.max(0, Math.min(1, (state.leaseEnd[node] - time) / length));
    c.lineWidth = 4;
    c.strokeStyle = ink.line;
    c.beginPath();
    c.arc(x, y, this.radius + 6, 0, 7);
    c.stroke();
    c.strokeStyle = colour;
    c.beginPath();
    c.arc(x, y, this.radius + 6, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * left);
    c.stroke();
  }

  private drawCrown(c: CanvasRenderingContext2D, ink: Ink, x: number, y: number, colour: string): void {
    const size = Math.max(0.55, Math.min(this.scale, this.radius / 16));
    c.beginPath();
    for (const [dx, dy] of [[-9, 0], [-11, -9], [-4, -5], [0, -12], [4, -5], [11, -9], [9, 0]]) c.lineTo(x + dx * size, y + dy * size);
    c.closePath();
    c.fillStyle = colour;
    c.strokeStyle = ink.paper;
    c.lineWidth = 2;
    c.stroke();
    c.fill();
  }

  private drawCross(c: CanvasRenderingContext2D, ink: Ink, x: number, y: number, radius: number): void {
    const r = radius * 0.7;
    c.strokeStyle = ink.dead;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x - r, y - r);
    c.lineTo(x + r, y + r);
    c.moveTo(x + r, y - r);
    c.lineTo(x - r, y + r);
    c.stroke();
  }

  private drawPaused(c: CanvasRenderingContext2D, ink: Ink, x: number, y: number, radius: number): void {
    c.fillStyle = ink.ink;
    c.fillRect(x - radius - 1, y - radius - 1, 4, 12);
    c.fillRect(x - radius + 5, y - radius - 1, 4, 12);
  }

  private drawSuspicion(c: CanvasRenderingContext2D, ink: Ink, node: number, x: number, y: number, radius: number): void {
    if (!this.scene.isSuspected(node)) return;
    const bx = x + radius * 0.8, by = y - radius * 0.8, size = Math.max(6, Math.min(9, radius * 0.5));
    c.beginPath();
    c.arc(bx, by, size, 0, 7);
    c.fillStyle = ink.bad;
    c.fill();
    c.fillStyle = ink.surface;
    c.font = `700 ${size * 1.5}px ${font}`;
    c.fillText('?', bx, by + 0.5);
  }

  private termText(node: number): string {
    const term = this.scene.state.term[node];
    return !term ? '' : term < 1e6 ? ` · term ${term}` : ` · term …${String(term % 1e4).padStart(4, '0')}`;
  }

  private stateText(node: number): string {
    const { run, state } = this.scene, role = state.role[node], leader = state.leader[node], term = this.termText(node);
    if (!state.alive[node]) return 'dead';
    if (state.paused[node]) return 'stands still';
    if (this.isStore(node)) return leader ? `store: ${run.id(leader)} is first` : 'store';
    if (role === Role.leader) return `leads${term}`;
    if (role === Role.electing) return `electing${term}`;
    return leader ? `follows ${run.id(leader)}` : term.replace(' · ', '');
  }

  /** What the node is, outside the circle. */
  private drawState(c: CanvasRenderingContext2D, ink: Ink, node: number, x: number, y: number): void {
    const { run, state } = this.scene, text = [run.name(node), this.stateText(node)].filter((part) => part).join(': ');
    if (!text) return;
    const middleX = this.canvas.width / 2, away = this.radius + 9;
    const below = y >= this.canvas.height / 2 - 10;
    const besides = Math.abs(x - middleX) > this.radius;
    this.letters(c, 12);
    const width = c.measureText(text).width;
    const px = besides ? Math.max(width / 2 + 4, Math.min(this.canvas.width - width / 2 - 4, x)) : x;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    const crown = state.role[node] === Role.leader && state.alive[node] === 1 ? 12 * this.scale : 0;
    const py = below ? y + away + 6 * this.scale : y - away - 2 * this.scale - crown;
    this.letter(c, ink, text, px, py, ink.soft);
    this.taken.push({ left: px - width / 2 - 3, right: px + width / 2 + 3, top: py - 7 * this.scale, bottom: py + 7 * this.scale });
  }

  private drawDrag(c: CanvasRenderingContext2D, ink: Ink): void {
    if (!this.drag) return;
    const { from, to } = this.drag, dx = to.x - from.x, dy = to.y - from.y;
    c.strokeStyle = ink.bad;
    c.lineWidth = 2;
    c.setLineDash([8, 6]);
    c.beginPath();
    c.moveTo(from.x - dx * 9, from.y - dy * 9);
    c.lineTo(to.x + dx * 9, to.y + dy * 9);
    c.stroke();
    c.setLineDash([]);
  }

  /** What a screen reader says of each node; only when something has changed. */
  private label(): void {
    const { run, state } = this.scene;
    if (this.labelledAt === state.cursor) return;
    this.labelledAt = state.cursor;
    this.buttons.forEach((each, i) => {
      const node = i + 1;
      const what = !state.alive[node] ? 'dead' : state.paused[node] ? 'stands still' : this.isStore(node) ? 'the store' : roleNames[state.role[node]];
      const whom = state.alive[node] && state.role[node] === Role.follower ? ` of ${run.id(state.leader[node])}` : '';
      const term = state.alive[node] && state.term[node] ? `, term ${state.term[node]}` : '';
      const suspected = this.scene.isSuspected(node) ? ', suspected' : '';
      const label = `Node ${run.id(node)}${run.name(node) ? ` (${run.name(node)})` : ''}: ${what}${whom}${term}${suspected}`;
      if (each.getAttribute('aria-label') === label) return;
      each.setAttribute('aria-label', label);
      each.title = label; // with many nodes there is no room for it
    });
  }
}
