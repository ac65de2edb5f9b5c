// What `elector doctor` says of the cluster, from what the agent itself knows.
import type { Difference, Member, Overview } from './api';
import { find, make, mark, repeat, say } from './dom';
import { hasVote } from './members';
import { count, grouped, plain, span } from './words';

export interface Warning { level: 'wrong' | 'warn'; what: string; text: string }

export interface Votes { all: number; heard: number; needed: number }

/** Of those that count: here or heard, with the same settings and a version in common. */
export function votesOf(overview: Overview): Votes {
  const voters = overview.members.filter(hasVote);
  const heard = voters.filter((member) => (member.reachable || member.name === overview.member) && !member.differs && !member.speaks);
  return { all: voters.length, heard: heard.length, needed: Math.floor(voters.length / 2) + 1 };
}

function differences(list: Difference[]): string {
  return list.map(({ what, ours, theirs }) => ours && theirs ? `${plain(what)} is ${plain(ours)} here and ${plain(theirs)} there`
    : `the ${plain(what)} differs, and its agent is too old to say how`).join('; ');
}

function memberWarning(member: Member): Warning | null {
  const what = `member ${plain(member.name)}`, address = plain(member.address);
  const level = hasVote(member) ? 'wrong' : 'warn';
  if (member.lost_record) return { level: 'warn', what, text: `${address}, its vote does not count yet: its state file was lost, and it has not heard enough others` };
  if (member.silent_ms) return { level: 'warn', what, text: `${address}, its vote counts in ${span(member.silent_ms * 1000)}: it has just started` };
  if (member.reachable === null) return null;
  if (member.speaks) return { level: 'wrong', what, text: `${address}, it does not count: it speaks version ${plain(member.speaks)} of the messages between agents, which this agent does not; install the same version of elector on both` };
  if (member.differs) return { level: 'wrong', what, text: `${address}, heard, but it does not count: ${differences(member.differs)}; make the files the same, and restart the agent` };
  if (member.reachable) return null;
  if (member.heard_ms === null) return { level, what, text: `${address}, never heard; does its agent run, with the same keys and cluster, and does UDP get through both ways?` };
  return { level, what, text: `${address}, not heard for ${span(member.heard_ms * 1000)}; does its agent run, and does UDP get through both ways?` };
}

/** As doctor judges them: a group with a candidate here and no leader is wrong, one without both is not. */
function groupWarnings({ groups }: Overview, worstFailoverMs: number): Warning[] {
  const list: Warning[] = [], { waiting, waiting_group: name } = groups, idle = groups.count - groups.led - waiting;
  const still = worstFailoverMs ? `if so still after ${grouped(worstFailoverMs)} ms, see the members` : 'see the members';
  if (waiting > 0) {
    const who = waiting === 1 ? 'nobody leads, though a candidate stands here' : `${count(waiting, 'group has', 'groups have')} candidates here and no leader`;
    list.push({ level: 'wrong', what: waiting > 1 ? 'groups' : name ? `group ${plain(name)}` : 'a group', text: `${who}; ${still}${waiting > 1 ? '; choose “nobody” below to see which' : ''}` });
  }
  if (idle > 0) list.push({ level: 'warn', what: 'groups', text: `${count(idle, 'group has', 'groups have')} no leader, and no candidate here; choose “nobody” below to see which` });
  return list;
}

/** Half of what stops work: the bound of doctor. */
function latenessWarning({ late_us: late, stall_us: stall }: Overview): Warning | null {
  if (late === undefined || stall === undefined || late <= stall / 2) return null;
  const ms = (us: number) => `${(us / 1000).toFixed(1)} ms`;
  return { level: 'warn', what: 'lateness', text: `the agent ran up to ${ms(late)} late in the last hour, and ${ms(stall)} ${late < stall ? 'would stop' : 'stop'} work; the host was suspended or is overloaded: relieve it, or raise “lease”` };
}

export function warningsOf(overview: Overview, worstFailoverMs: number): Warning[] {
  const list: Warning[] = [];
  const votes = votesOf(overview), { dropped } = overview;
  if (overview.unhealthy) list.push({ level: 'wrong', what: 'agent', text: overview.unhealthy === 'disk' ? 'the state file cannot be written: the agent is about to stop' : `about to stop: ${plain(overview.unhealthy)}` });
  if (votes.heard < votes.needed) list.push({ level: 'wrong', what: 'majority', text: `${votes.heard} of ${votes.all} votes count: nobody can be elected until there are ${votes.needed}` });
  for (const member of overview.members) {
    const grants = !member.silent_ms && !member.lost_record;
    const warning = member.name === overview.member && grants ? null : memberWarning(member);
    if (warning) list.push(warning);
  }
  list.push(...groupWarnings(overview, worstFailoverMs));
  if (overview.writing_ms > 1000) list.push({ level: 'wrong', what: 'disk', text: `a write of the state file has taken ${span(overview.writing_ms * 1000)} so far; is the disk full or broken?` });
  const late = latenessWarning(overview);
  if (late) list.push(late);
  if (overview.refused) list.push({ level: 'warn', what: 'realtime', text: `the agent works without ${plain(overview.refused)}: when this host is busy, leases may end although nothing has failed` });
  const foreign = (dropped.forged ?? 0) + (dropped.malformed ?? 0);
  if (foreign > 0) list.push({ level: 'warn', what: 'datagrams', text: `${count(foreign, 'forged or malformed one was', 'forged or malformed ones were')} dropped since the agent started; does somebody else send here, or has a member an old cluster key?` });
  return list;
}

export function showWarnings(list: Warning[]): void {
  say(find('warning-count'), list.length ? String(list.length) : 'none');
  repeat(find('warning-list'), list, () => make('li', {}, make('b'), make('span')), (li, warning) => {
    mark(li, 'level', warning.level);
    say(li.children[0]!, `${warning.level === 'wrong' ? '✕' : '!'} ${warning.what}`);
    say(li.children[1]!, warning.text);
  });
}
