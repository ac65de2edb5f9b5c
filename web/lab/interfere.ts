// What can be done to a node or a link at the present moment. Each deed is a line of the script; the run is then made anew, and
// its past is as it was.
import { Role, What } from '../shared/records';
import { Run } from '../shared/run';
import { Scene } from '../shared/scene';
import { Item } from './menu';
import { changed, linesOf, valuesOf, withEnd, withLine, without } from './script';

export type Deed = (text: string, at: string) => string;

/**
 * The moment of a deed: after everything that has happened, before anything else does, and with as few digits as that takes. A
 * fault at the very instant of an event would come before it.
 */
export function momentAfter(run: Run, cursor: number, time: number): number {
  const unit = run.about.inUnits ? run.about.unit : 1e6;
  const happened = cursor ? run.records.time(cursor) / unit : -1;
  let next = cursor;
  while (next < run.count && run.records.time(next + 1) <= Math.max(time, happened * unit)) next++;
  const limit = next < run.count ? run.records.time(next + 1) / unit : Math.max(happened, time / unit) + 2;
  const wish = time / unit > happened ? time / unit : (happened + limit) / 2;
  for (let digits = 0; digits <= 6; digits++) {
    const scale = 10 ** digits;
    for (const candidate of [Math.round(wish * scale), Math.floor(wish * scale), Math.ceil(wish * scale)])
      if (candidate / scale > happened && candidate / scale < limit && candidate >= 0) return candidate / scale * unit;
  }
  return time;
}

/** As a script writes it: 3.5 delays, or 12.5ms. */
export function momentText(run: Run, moment: number): string {
  const unit = run.about.inUnits ? run.about.unit : 1e6;
  return `${Number((moment / unit).toFixed(6))}${run.about.inUnits ? '' : 'ms'}`;
}

/** Who calls the first election is a default that any further line may end; it is written down before. */
export function withCaller(run: Run, text: string): string {
  if (run.algorithm.beats || valuesOf(text, 'initiator').length > 0 || valuesOf(text, 'case').length > 0) return text;
  const r = run.records;
  for (let i = 1; i <= run.count && r.time(i) === 0; i++)
    if (r.what(i) === What.campaigned) return withLine(text, 'initiator', run.id(r.node(i)));
  return withLine(text, 'initiator', 'none');
}

const add = (key: string, value: (at: string) => string): Deed => (text, at) => withLine(text, key, value(at));

function call(id: string): Deed {
  return (text, at) => {
    const none = linesOf(text).some((line) => line.key === 'initiator' && line.value === 'none');
    return withLine(none ? without(text, 'initiator') : text, 'initiator', `${id}@${at}`);
  };
}

function resume(id: string): Deed {
  return (text, at) => withEnd(text, 'pause', (value) => value.startsWith(`${id}@`) && !value.includes(','), at);
}

export function partition(run: Run, side: number[], other: number[]): Deed {
  const names = (nodes: number[]) => nodes.map((node) => run.id(node)).join(',');
  return add('partition', (at) => `${names(side)}|${names(other)}@${at}`);
}

export const heal: Deed = (text, at) => withEnd(text, 'partition', (value) => !value.includes('..'), at);

function mend(link: string): Deed {
  return (text, at) => withEnd(text, 'cut', (value) => value.split('@')[0] === link && !value.includes('..'), at);
}

/** A fixed property of a node, which it has had from the beginning. */
function always(key: string, id: string, value: string): Deed {
  return (text) => withLine(text.split('\n').filter((line) => !line.startsWith(`${key} ${id}=`)).join('\n'), key, `${id}=${value}`);
}

/** The names that were typed: "2, 3". */
function nodesOf(run: Run, text: string): number[] {
  const typed = text.split(/[\s,]+/).filter((each) => each !== '');
  return run.about.members.flatMap((member, i) => typed.includes(member.id) ? [i + 1] : []);
}

export function nodeMenu(scene: Scene, node: number, pauseEnd: string, deed: (deed: Deed) => void, openLink: (peer: number) => void): Item[] {
  const { run, state } = scene, id = run.id(node), member = run.about.members[node - 1];
  const item = (label: string, what: Deed): Item => ({ label, act: () => deed(what) });
  if (run.about.scripted) return [note('This run is scripted move by move. Change its steps in the script.')];
  if (!state.alive[node]) {
    return [item('Restart it', add('restart', (at) => `${id}@${at}`)), item('Restart it with an empty disk', add('wipe', (at) => `${id}@${at}`))];
  }
  const items: Item[] = [item('Crash', add('crash', (at) => `${id}@${at}`))];
  items.push(state.paused[node] ? item('Let it go on', resume(id)) : item('Pause', add('pause', (at) => `${id}@${at}..${pauseEnd}`)));
  if (member.mayLead) items.push(item('Call an election', call(id)));
  if (run.algorithm.transfers && state.role[node] === Role.leader) items.push(item('Resign', add('resign', (at) => `${id}@${at}`)));
  if (run.algorithm.transfers && state.role[node] !== Role.leader) items.push(item('Hand leadership over to it', add('transfer', (at) => `${id}@${at}`)));
  items.push('line');
  items.push({ label: 'Its clock jumps by', value: '+5', done: 'Jump', act: (value) => deed(add('jump', (at) => `${id}@${at}=${/^[+-]/.test(value) ? value : `+${value}`}`)) });
  items.push({ label: 'Its clock runs at', value: String(member.rate / 1e6), done: 'Set', act: (value) => deed(always('clock', id, value)) });
  items.push({ label: 'Its rank counts', value: member.attribute, done: 'Set', act: (value) => deed(always('attr', id, value)) });
  if (run.nodes > 1) {
    const peers = run.about.members.map((each) => each.id).filter((each) => each !== id);
    items.push('line');
    items.push({ label: 'Its link to', value: peers[0], options: peers, done: 'Open', act: (peer) => openLink(nodesOf(run, peer)[0]) });
    items.push({ label: 'Cut it off from all but', value: '', done: 'Part', act: (value) => {
      const side = [...new Set([node, ...nodesOf(run, value)])], other = run.about.members.map((_, i) => i + 1).filter((each) => !side.includes(each));
      if (other.length) deed(partition(run, side, other));
    } });
  }
  return items;
}

export function linkMenu(scene: Scene, a: number, b: number, deed: (deed: Deed) => void): Item[] {
  const { run } = scene, one = run.id(a), other = run.id(b);
  if (run.about.scripted) return [note('This run is scripted move by move. Change its steps in the script.')];
  const item = (label: string, what: Deed): Item => ({ label, act: () => deed(what) });
  const cut = (from: string, to: string) => add('cut', (at) => `${from}>${to}@${at}`);
  const there = scene.isCut(a, b), back = scene.isCut(b, a), items: Item[] = [];
  if (!there && !back) items.push(item(`Cut both ways`, (text, at) => cut(other, one)(cut(one, other)(text, at), at)));
  if (!there) items.push(item(`Cut ${one} → ${other}`, cut(one, other)));
  if (!back) items.push(item(`Cut ${other} → ${one}`, cut(other, one)));
  if (there) items.push(item(`Mend ${one} → ${other}`, mend(`${one}>${other}`)));
  if (back) items.push(item(`Mend ${other} → ${one}`, mend(`${other}>${one}`)));
  const slow = (from: string, to: string): Item => ({ label: `Slow ${from} → ${to} by`, value: '5', done: 'Slow', act: (value) => deed(add('slow', (at) => `${from}>${to}=${value}@${at}`)) });
  items.push('line', slow(one, other), slow(other, one));
  return items;
}

export function note(text: string): HTMLElement {
  const p = document.createElement('p');
  p.textContent = text;
  return p;
}

/** The script after a deed at this moment. */
export function carryOut(run: Run, text: string, deed: Deed, moment: number): string {
  return deed(withCaller(run, changed(text)), momentText(run, moment));
}
