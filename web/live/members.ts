// The members, and who hears whom. An agent knows what it hears itself; the others tell it when that changes for them.
import type { Member, Overview } from './api';
import { fillRow, find, make, mark, repeat, row, say } from './dom';
import { plain, span } from './words';

function heard(member: Member, isSelf: boolean): string {
  if (isSelf) return 'this agent';
  if (member.reachable === null) return 'no session';
  if (member.heard_ms === null) return 'never';
  return `${span(member.heard_ms * 1000)} ago`;
}

export function hasVote(member: Member): boolean {
  return member.role !== 'observer' && member.role !== 'candidate';
}

/** A candidate exchanges messages with members that vote alone. */
function talk(a: Member, b: Member): boolean {
  return (a.role !== 'candidate' && b.role !== 'candidate') || hasVote(a) || hasVote(b);
}

function sound(member: Member): 'heard' | 'silent' | 'never' {
  if (member.heard_ms === null) return 'never';
  return member.reachable ? 'heard' : 'silent';
}

function fillMember(element: HTMLTableRowElement, member: Member, overview: Overview): void {
  const isSelf = member.name === overview.member;
  const trip = member.round_trip_us;
  fillRow(element, [plain(member.name), plain(member.role), plain(member.version ?? 'not told'), heard(member, isSelf),
    isSelf ? '–' : trip === null || trip === undefined ? 'not measured' : `< ${span(trip)}`, plain(member.address)]);
  mark(element, 'sound', isSelf ? 'self' : member.reachable === null ? 'unknown' : sound(member));
}

// What another agent told last. What a silent one told is old: the cell says so.
function told(listener: Member, speaker: Member, names: string): { text: string; sound: string; label: string } {
  if (!listener.hears) return { text: '?', sound: 'unknown', label: `${names}: not told` };
  const hears = listener.hears.includes(speaker.name), text = hears ? '✓ heard' : '✕ silent';
  if (sound(listener) === 'heard') return { text, sound: hears ? 'heard' : 'silent', label: `${names}: ${hears ? 'yes' : 'no'}, as it says` };
  const ago = span((listener.heard_ms ?? 0) * 1000);
  return { text: `${text}?`, sound: 'stale', label: `${names}: ${hears ? 'yes' : 'no'}, as it said before it fell silent ${ago} ago` };
}

function cell(listener: Member, speaker: Member, self: string): { text: string; sound: string; label: string } {
  const names = `${plain(listener.name)} hears ${plain(speaker.name)}`;
  if (listener === speaker) return { text: '', sound: 'same', label: 'itself' };
  if (!talk(listener, speaker)) return { text: '–', sound: 'unknown', label: `${names}: neither has a vote, so they say nothing to each other` };
  if (listener.name !== self) return told(listener, speaker, names);
  const is = sound(speaker), ago = speaker.heard_ms === null ? '' : span(speaker.heard_ms * 1000);
  if (is === 'heard') return { text: '✓ heard', sound: is, label: `${names}, ${ago} ago` };
  return { text: is === 'never' ? '✕ never' : `✕ ${ago}`, sound: is, label: is === 'never' ? `${names}: never` : `${names}: silent for ${ago}` };
}

function fillMatrix(overview: Overview): void {
  const table = find<HTMLTableElement>('matrix'), { members, member: self } = overview;
  if (table.rows.length !== members.length + 1) {
    table.replaceChildren(make('thead', {}, make('tr')), make('tbody'));
  }
  const head = table.tHead!.rows[0]!, body = table.tBodies[0]!;
  repeat(head, [null, ...members], () => make('th', { scope: 'col' }),
    (th, member) => say(th, member ? plain(member.name) : 'hears →'));
  repeat(body, members, () => row(members.length + 1), (tr, listener) => {
    say(tr.cells[0]!, plain(listener.name));
    mark(tr, 'self', String(listener.name === self));
    members.forEach((speaker, i) => {
      const td = tr.cells[i + 1]!, is = cell(listener, speaker, self);
      say(td, is.text);
      mark(td, 'sound', is.sound);
      td.setAttribute('aria-label', is.label);
      td.title = is.label;
    });
  });
  const untold = members.filter((member) => member.name !== self && member.reachable !== null && !member.hears).map((member) => plain(member.name));
  say(find('matrix-note'), members.length === 1 ? 'There is no other member.'
    : `Read a row: what that member hears. ✓? and ✕?: said by one that is silent now.${untold.length === 0 ? '' : ` Not told by ${untold.join(', ')}.`}`);
}

export function showMembers(overview: Overview): void {
  repeat(find('member-rows'), overview.members, () => row(6), (tr, member) => fillMember(tr, member, overview));
  fillMatrix(overview);
}
