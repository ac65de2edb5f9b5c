// The members, and who hears whom. An agent knows what it hears itself; no message tells it what others hear.
import type { Member, Overview } from './api';
import { fillRow, find, make, mark, repeat, row, say } from './dom';
import { plain, span } from './words';

function heard(member: Member, isSelf: boolean): string {
  if (isSelf) return 'this agent';
  if (member.heard_ms === null) return 'never';
  return `${span(member.heard_ms * 1000)} ago`;
}

function sound(member: Member): 'heard' | 'silent' | 'never' {
  if (member.heard_ms === null) return 'never';
  return member.reachable ? 'heard' : 'silent';
}

function fillMember(element: HTMLTableRowElement, member: Member, overview: Overview): void {
  const isSelf = member.name === overview.member;
  const trip = member.round_trip_us;
  fillRow(element, [plain(member.name), plain(member.role), plain(member.version ?? 'not told'), heard(member, isSelf),
    isSelf ? '–' : trip === null || trip === undefined ? 'not measured' : span(trip), plain(member.address)]);
  mark(element, 'sound', isSelf ? 'self' : sound(member));
}

function cell(listener: Member, speaker: Member, self: string): { text: string; sound: string; label: string } {
  const names = `${plain(listener.name)} hears ${plain(speaker.name)}`;
  if (listener === speaker) return { text: '', sound: 'same', label: 'itself' };
  if (listener.name !== self) return { text: '?', sound: 'unknown', label: `${names}: not known here` };
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
  const others = members.filter((member) => member.name !== self).map((member) => plain(member.name));
  say(find('matrix-note'), others.length === 0 ? 'There is no other member.'
    : `Read a row: what that member hears. This agent, ${plain(self)}, knows its own row; for the others open the pages of ${others.join(', ')}.`);
}

export function showMembers(overview: Overview): void {
  repeat(find('member-rows'), overview.members, () => row(6), (tr, member) => fillMember(tr, member, overview));
  fillMatrix(overview);
}
