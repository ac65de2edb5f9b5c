// A step in words: what happened, why, and what followed from it.
import { Reason, Role, What } from '../shared/records';
import { Run } from '../shared/run';

function list(items: string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`;
}

function message(run: Run, i: number): string {
  const r = run.records, kind = run.kindName(r.kind(i));
  const isSet = (run.algorithm.setKinds >>> r.kind(i) & 1) === 1;
  if (!isSet) return r.subject(i) ? `${kind} ${run.id(r.subject(i))}` : kind;
  const sent = r.what(i) === What.sent ? i : r.number(i);
  return /\{.*\}/.exec(run.text(sent))?.[0].replace(/^/, `${kind} `) ?? kind;
}

export function recordInWords(run: Run, i: number): string {
  const r = run.records, node = run.id(r.node(i)), peer = run.id(r.peer(i));
  switch (r.what(i)) {
    case What.sent: return `${node} sends ${message(run, i)} to ${peer}`;
    case What.delivered: return `${node} hears ${message(run, i)} from ${peer}`;
    case What.dropped: {
      const fate = r.reason(i) === Reason.dead ? `finds ${node} dead` : r.reason(i) === Reason.cut ? 'meets a cut link' : 'is lost';
      return `${message(run, i)} from ${peer} to ${node} ${fate}`;
    }
    case What.copied: return `the network copies ${message(run, i)} from ${peer} to ${node}`;
    case What.rested: return 'nothing is under way any more';
    default: return run.text(i);
  }
}

/** Sends of the same message to several are one clause. */
function consequences(run: Run, first: number, last: number): string[] {
  const r = run.records, clauses: string[] = [];
  const sends = new Map<string, string[]>();
  for (let i = first; i <= last; i++) {
    const what = r.what(i);
    if (what === What.saved) continue;
    if (what === What.sent) {
      if (run.isRoutine(r.kind(i))) continue;
      const key = `${run.id(r.node(i))} sends ${message(run, i)} to`;
      if (!sends.has(key)) clauses.push(key);
      sends.set(key, [...(sends.get(key) ?? []), run.id(r.peer(i))]);
    } else {
      clauses.push(recordInWords(run, i));
    }
  }
  const others = run.nodes - 1;
  return clauses.filter((clause, i) => clause !== '' && clause !== clauses[i - 1]).map((clause) => {
    const to = sends.get(clause);
    return to ? `${clause} ${to.length === others && others > 3 ? 'all others' : to.length > 6 ? `${to.length} others` : list(to)}` : clause;
  });
}

export interface Caption { time: string; headline: string; rest: string; alarm: string }

export function captionAt(run: Run, cursor: number, time: number): Caption {
  const step = run.stepOf(cursor);
  const when = run.about.inUnits ? `${run.timeText(time)} T` : run.timeText(time);
  if (step < 0) {
    const leading = run.views.filter((view) => view.record === 0 && view.role === Role.leader).map((view) => run.id(view.node));
    const leader = leading.length === 0 ? 'Nobody leads yet.' : leading.length === 1 ? `${leading[0]} leads.` : 'Each leads a group of its own.';
    return { time: when, headline: `${run.nodes} nodes, ${run.about.algorithm}. ${leader}`, rest: 'Press play, or the right arrow for the next event.', alarm: '' };
  }
  const first = run.steps[step], last = Math.min(cursor, run.lastOfStep(step)), r = run.records;
  const alarms: string[] = [];
  for (let i = first; i <= last; i++) {
    if (r.what(i) !== What.violated) continue;
    const violation = run.about.violations[r.number(i)];
    if (violation) alarms.push(`${violation.text}: ${violation.meaning}`);
  }
  const opening = [What.sent, What.noted, What.viewed, What.saved, What.violated].includes(r.what(first) as 3);
  const clauses = consequences(run, opening ? first : first + 1, last).filter((clause) => !alarms.some((alarm) => alarm.startsWith(clause)));
  const headline = opening ? clauses.shift() ?? '' : recordInWords(run, first);
  return { time: when, headline: sentence(headline), rest: clauses.map(sentence).join(' '), alarm: alarms.map(sentence).join(' ') };
}

function sentence(text: string): string {
  if (text === '') return '';
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** What may have moved a node: a change of what it believed, its own timers and its host, but no message that it happened to hear. */
const moving: ReadonlySet<number> = new Set([What.viewed, What.restarted, What.requested, What.campaigned, What.suspected, What.resumed]);
/** These come from outside, so nothing before them is their cause. */
const outside: ReadonlySet<number> = new Set([What.crashed, What.restarted, What.requested, What.paused]);

/**
 * Why a node of a recording did what no message of the election caused: what moved it before, or the death of another, which its
 * agent was told of.
 */
function knownBefore(run: Run, i: number): number {
  const r = run.records, node = r.node(i);
  if (outside.has(r.what(i))) return 0;
  for (let k = i - 1; k > 0; k--) {
    const isOfThisStep = r.what(k) === What.noted && r.time(k) === r.time(i);
    if (r.what(k) === What.crashed || (r.node(k) === node && (moving.has(r.what(k)) || isOfThisStep))) return k;
  }
  return 0;
}

/** The chain of causes that led to the record, the first cause first. */
export function whyOf(run: Run, cursor: number): { record: number; text: string }[] {
  const chain: { record: number; text: string }[] = [];
  const step = run.stepOf(cursor);
  if (step < 0) return chain;
  let i = run.steps[step];
  for (let r = i; r <= Math.min(cursor, run.lastOfStep(step)); r++) if (run.records.what(r) === What.viewed || run.records.what(r) === What.noted) i = r;
  for (let length = 0; i > 0 && length < 40; length++) {
    chain.unshift({ record: i, text: recordInWords(run, i) });
    const cause = run.records.cause(i) || (run.recorded ? knownBefore(run, i) : 0);
    if (cause >= i) break;
    i = cause;
  }
  return chain;
}
