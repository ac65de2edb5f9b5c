// The tenures of a group as bars on one line, to scale. A gap is at least 3 units wide, so that none is invisible.
import type { Tenure } from './api';
import { draw, find, make } from './dom';
import { clock, ledFor, plain, span } from './words';

const TOP = 18, BAR = 26, HEIGHT = 62, GAP_MIN = 3;

export function beganAt(tenure: Tenure): number {
  return Date.parse(tenure.at);
}

function endedAt(tenure: Tenure, now: number): number {
  return tenure.ended === null ? now : beganAt(tenure) + tenure.led_us / 1000;
}

interface Piece { from: number; to: number; kind: 'tenure' | 'gap'; leader: string; title: string; text: string }

/** Tenures and the gaps between, within the time that is shown. */
function piecesOf(tenures: Tenure[], start: number, now: number): Piece[] {
  const pieces: Piece[] = [];
  tenures.forEach((tenure, i) => {
    const from = beganAt(tenure), name = plain(tenure.leader), after = tenures[i + 1];
    const latest = after ? Math.max(from, beganAt(after) - (after.nobody_us ?? 0) / 1000) : now; // of one that ended while the agent was down, the end is a bound
    const to = Math.min(endedAt(tenure, now), latest);
    const title = `${name} led with token ${tenure.token} for ${ledFor(tenure)}${tenure.ended ? `: ${plain(tenure.ended)}` : ''}`;
    pieces.push({ from, to, kind: 'tenure', leader: tenure.leader, title, text: name });
    const end = Math.max(after ? beganAt(after) : now, to); // a time stamp is read to the millisecond only
    const us = after?.nobody_us ?? Math.round((end - to) * 1000);
    if (us > 0 && (after || tenure.ended !== null)) {
      pieces.push({ from: to, to: end, kind: 'gap', leader: '', title: `nobody led for ${span(us)}`, text: span(us) });
    }
  });
  return pieces.filter((piece) => piece.to >= start).map((piece) => ({ ...piece, from: Math.max(piece.from, start) }));
}

/** `label`: the middle of the text; null: there is no room for it. */
function drawGap(svg: SVGElement, x: number, width: number, piece: Piece, label: number | null): void {
  svg.append(draw('rect', { class: 'gap', x, y: TOP, width, height: BAR }, draw('title', {}, piece.title)));
  svg.append(draw('path', { class: 'flag', d: `M${x + width / 2} ${TOP - 1}l-4 -6h8z` }));
  if (label !== null) svg.append(draw('text', { class: 'gap-text', x: label, y: 9 }, piece.text));
}

function drawTenure(svg: SVGElement, x: number, width: number, piece: Piece, colour: number): void {
  svg.append(draw('rect', { class: `tenure lead-${colour}`, x, y: TOP, width, height: BAR, rx: 2 }, draw('title', {}, piece.title)));
  if (width > 9 * Math.min(piece.text.length, 20)) svg.append(draw('text', { class: 'tenure-text', x: x + width / 2, y: TOP + 17 }, piece.text.slice(0, 20)));
}

/** `spanS`: seconds to show; 0: all. Names are the members', whose order gives the colours. */
export function showTimeline(tenures: Tenure[], names: string[], clockMs: number, spanS: number): void {
  const figure = find('timeline'), last = tenures[tenures.length - 1];
  const nowMs = last ? Math.max(clockMs, endedAt(last, beganAt(last))) : clockMs; // the overview is a little older than the history
  const start = Math.max(tenures[0] ? beganAt(tenures[0]) : nowMs, spanS ? nowMs - spanS * 1000 : 0);
  const whole = Math.max(figure.clientWidth, 280); // drawn for this screen, so that text keeps its size
  const pieces = piecesOf(tenures, start, nowMs);
  const svg = draw('svg', { viewBox: `0 0 ${whole} ${HEIGHT}`, role: 'img' });
  svg.setAttribute('aria-label', pieces.map((piece) => piece.title).join('. ') || 'Nobody has led in this time.');
  const gaps = pieces.filter((piece) => piece.kind === 'gap').length, all = Math.max(nowMs - start, 1);
  const free = whole - gaps * GAP_MIN;
  let x = 0, labelled = -100;
  for (const piece of pieces) {
    const isGap = piece.kind === 'gap', width = free * (piece.to - piece.from) / all + (isGap ? GAP_MIN : 0);
    const middle = Math.min(Math.max(x + width / 2, 30), whole - 30), isLabelled = middle - labelled > 70;
    if (isGap) drawGap(svg, x, width, piece, isLabelled ? middle : null);
    else drawTenure(svg, x, width, piece, names.indexOf(piece.leader) % 6 + 1);
    if (isGap && isLabelled) labelled = middle;
    x += width;
  }
  svg.append(draw('text', { class: 'axis start', x: 0, y: HEIGHT - 4 }, clock(start)), draw('text', { class: 'axis end', x: whole, y: HEIGHT - 4 }, 'now'));
  figure.replaceChildren(svg, make('figcaption', { class: 'note' }, pieces.length === 0 ? 'No tenure is remembered in this time.' : gaps ? 'Dashed, with a mark above: nobody led. Gaps are drawn a little wider than they were.' : 'No gap.'));
}
