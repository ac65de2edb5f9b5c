// The colours of the style sheet, for the canvases; and which leader and which kind of message has which.
import { Run } from '../shared/run';
import { Role } from '../shared/records';

export interface Ink {
  paper: string; surface: string; raised: string; line: string; ink: string; soft: string; faint: string;
  accent: string; bad: string; dead: string; onLead: string; leads: string[]; kinds: string[];
}

export const font = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';

export function readInk(): Ink {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: of('paper'), surface: of('surface'), raised: of('raised'), line: of('line'), ink: of('ink'), soft: of('soft'),
    faint: of('faint'), accent: of('accent'), bad: of('bad'), dead: of('dead'), onLead: of('on-lead'),
    leads: [1, 2, 3, 4, 5, 6].map((i) => of(`lead-${i}`)),
    kinds: [1, 2, 3, 4, 5, 6, 7].map((i) => of(`kind-${i}`)),
  };
}

/** Each node that ever leads has its colour, in the order in which they came to lead. */
export function leadersOf(run: Run): Map<number, number> {
  const first: [number, number][] = [];
  for (let node = 1; node <= run.nodes; node++) {
    const spell = run.spells[node].find((each) => each.role === Role.leader);
    if (spell) first.push([spell.time, node]);
  }
  first.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return new Map(first.map(([, node], i) => [node, i]));
}

/** Heartbeats are grey; the other kinds take the colours in their order. */
export function kindColour(ink: Ink, run: Run, kind: number): string {
  if (run.isRoutine(kind)) return ink.kinds[6];
  let place = 0;
  for (let k = 1; k < kind; k++) if (!run.isRoutine(k)) place++;
  return ink.kinds[place % 6];
}
