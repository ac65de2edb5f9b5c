// The histogram of failovers: how long nobody led, by this agent's count.
import type { Histogram } from './api';
import { draw, find, make } from './dom';
import { count, grouped, span } from './words';

const HEIGHT = 130, FOOT = 22, HEAD = 16;
let shown = '';

function total(histogram: Histogram): number {
  return histogram.counts.reduce((sum, one) => sum + one, 0);
}

/** 2.50 s as 2.5 s. */
function trim(text: string): string {
  return text.replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');
}

function label(histogram: Histogram, i: number): string {
  const { bounds_us: bounds } = histogram;
  return i < bounds.length ? `≤ ${trim(span(bounds[i]!))}` : `> ${span(bounds[bounds.length - 1]!)}`;
}

/** The buckets from the first to the last that is not empty, and one more on each side. */
function range(histogram: Histogram): number[] {
  const used = histogram.counts.map((one, i) => (one > 0 ? i : -1)).filter((i) => i >= 0);
  const from = Math.max(0, used[0]! - 1), to = Math.min(histogram.counts.length - 1, used[used.length - 1]! + 1);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

export function showFailovers(histogram: Histogram): void {
  const figure = find('failovers'), key = JSON.stringify(histogram), all = total(histogram);
  if (key === shown) return;
  shown = key;
  const whole = Math.min(Math.max(figure.clientWidth, 280), 620); // drawn for this screen, so that text keeps its size
  const svg = draw('svg', { viewBox: `0 0 ${whole} ${HEIGHT}`, role: 'img' });
  if (all === 0) {
    figure.replaceChildren(make('figcaption', { class: 'note' }, 'None has been seen since this agent started.'));
    return;
  }
  const buckets = range(histogram), step = whole / buckets.length, most = Math.max(...histogram.counts);
  const words = buckets.filter((i) => histogram.counts[i]).map((i) => `${label(histogram, i)}: ${histogram.counts[i]}`);
  svg.setAttribute('aria-label', `Failovers by duration. ${words.join(', ')}`);
  buckets.forEach((i, at) => {
    const value = histogram.counts[i]!, height = (HEIGHT - FOOT - HEAD) * value / most, middle = (at + 0.5) * step;
    svg.append(draw('rect', { class: 'bar', x: middle - Math.min(step * 0.4, 28), y: HEIGHT - FOOT - height, width: Math.min(step * 0.8, 56), height, rx: 2 }));
    if (value) svg.append(draw('text', { class: 'value', x: middle, y: HEIGHT - FOOT - height - 4 }, grouped(value)));
    if (at % Math.ceil(58 / step) === 0) svg.append(draw('text', { class: 'axis', x: middle, y: HEIGHT - 7 }, label(histogram, i)));
  });
  svg.append(draw('line', { class: 'base', x1: 0, x2: whole, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT }));
  figure.replaceChildren(svg, make('figcaption', { class: 'note' },
    `${count(all, 'failover')} since this agent started; nobody led for ${span(Math.round(histogram.sum_us / all))} on average.`));
}
