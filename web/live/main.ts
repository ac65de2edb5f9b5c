// The live page of an agent: joins the feed with the parts of the page.
import { doctorCommand } from './agent';
import type { Change, Overview } from './api';
import { Detail } from './detail';
import { command, find, make, mark, say, sayCommand } from './dom';
import { showFailovers } from './failovers';
import { Feed, type Link } from './feed';
import { GroupTable } from './groups';
import { showMembers } from './members';
import { setUpTheme } from './theme';
import { showWarnings, votesOf, type Warning, warningsOf } from './warnings';
import { clock, count, grouped, plain, span } from './words';

const CHANGES_MAX = 8;

let overview: Overview | null = null;
let warnings: Warning[] = [];
let restartedMs = 0;
const newest: Change[] = []; // not shown yet
const leaders = new Map<string, string | null>(); // of the groups in the list of changes
const detail = new Detail();
const table = new GroupTable(choose, onTable);
const feed = new Feed({ overview: onOverview, caughtUp: onCaughtUp, change: onChange, many: onMany, link: onLink });

// ---- Choosing a group; the address says which, so that it can be passed on ----

function choose(name: string): void {
  const hash = `#group=${encodeURIComponent(name)}`;
  if (location.hash !== hash) location.hash = hash;
  else readHash();
}

function readHash(): void {
  const name = /^#group=(.+)$/.exec(location.hash)?.[1];
  if (!name) return;
  try {
    const plainName = decodeURIComponent(name);
    table.mark(plainName);
    void detail.choose(plainName, table.find(plainName)).then(reveal);
  } catch { // a broken escape: as if none was named
    say(find('detail-none'), 'The address names no group. Choose one.');
  }
}

/** Without a choice the first group is shown, so that the page answers the common question at once. */
function onTable(): void {
  if (!detail.name && !location.hash && table.first) {
    table.mark(table.first.group);
    void detail.choose(table.first.group, table.first).then(reveal);
  } else {
    reveal();
  }
  if (overview) detail.tick(overview, table.find(detail.name));
}

/** Shows the page when its parts have their first content, so that it does not grow under the reader's eyes. */
function reveal(): void {
  if (overview || feed.link === 'gone') document.body.dataset.ready = '';
}

// ---- What the feed tells ----

function onOverview(now: Overview): void {
  if (overview && overview.started_ms !== now.started_ms) {
    restartedMs = now.started_ms;
    onCaughtUp();
  }
  overview = now;
  document.title = `${plain(now.member)} · ${plain(now.cluster)} · Elector`;
  say(find('cluster'), plain(now.cluster));
  say(find('view'), `as seen by member ${plain(now.member)}`);
  say(find('group-count'), `${grouped(now.groups.count)}, of which ${plain(now.member)} leads ${grouped(now.groups.led_here)}`);
  sayCommand(find('doctor'), doctorCommand(now));
  say(find('doctor-note'), `On ${plain(now.member)}’s host it also checks keys, clocks and the state file.`);
  showMembers(now);
  warnings = warningsOf(now, table.worstFailoverMs);
  showWarnings(warnings);
  showFailovers(now.failovers);
  table.refresh(now);
  detail.tick(now, table.find(detail.name));
  showState();
}

function onCaughtUp(): void {
  table.outdate();
  if (overview) table.refresh(overview);
  void detail.refresh();
}

let redraw = 0, redrawAgain = 0;

function onChange(change: Change): void {
  note(change);
  table.change(change);
  if (change.group === detail.name && !redraw) {
    redraw = window.setTimeout(() => { redraw = 0; void detail.refresh(); }, 100); // steps that follow the change
    window.clearTimeout(redrawAgain);
    redrawAgain = window.setTimeout(() => void detail.refresh(), 2000); // what other agents state of it comes later
  }
}

// ---- Changes since the page was opened ----

function note(change: Change): void {
  const was = leaders.get(change.group);
  if (was !== undefined && was === change.leader) return; // only its value
  leaders.set(change.group, change.leader);
  if (leaders.size > 1000) leaders.delete(leaders.keys().next().value!);
  if (newest.length === 0) requestAnimationFrame(showNewest);
  newest.push(change);
  if (newest.length > CHANGES_MAX) newest.shift();
}

/** Once a frame: many groups may change at once. */
function showNewest(): void {
  for (const change of newest.splice(0)) showChange(change);
}

function onMany(most: number): void {
  showNewest();
  addToList(make('li', { 'data-many': '' }, make('time', {}, clock(Date.now())), ` More than ${most} changes in a second: the others are not listed.`));
}

function addToList(item: HTMLLIElement): void {
  const list = find('changes');
  list.prepend(item);
  while (list.children.length > CHANGES_MAX) list.lastElementChild?.remove();
}

function showChange(change: Change): void {
  const button = make('button', { type: 'button', class: 'name' }, plain(change.group));
  button.addEventListener('click', () => choose(change.group));
  const text = change.leader === null ? ' has no leader' : ` is led by ${plain(change.leader)}, token ${change.token}`;
  addToList(make('li', { 'data-led': change.leader === null ? 'no' : 'yes' }, make('time', {}, clock(Date.now())), ' ', button, text));
}

// ---- The line that says how things are ----

function groupsLine(now: Overview): string {
  const { count: all, led, waiting } = now.groups;
  if (all === 0) return 'No group yet.';
  if (waiting > 0) return `${count(waiting, 'group has', 'groups have')} candidates here and no leader, of ${count(all, 'group')}.`;
  if (all === led) return `${count(all, 'group has', 'groups have')} a leader.`;
  return `${grouped(led)} of ${count(all, 'group')} ${led === 1 ? 'has' : 'have'} a leader, the ${all - led === 1 ? 'other has' : 'others have'} no candidate here.`;
}

function long(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : span(seconds * 1e6);
}

function showState(): void {
  const state = find('state'), retry = find<HTMLButtonElement>('retry'), now = overview;
  retry.disabled = feed.link !== 'gone';
  if (feed.link === 'gone') {
    const wait = Math.max(0, Math.ceil((feed.nextAt - Date.now()) / 1000));
    mark(document.body, 'state', 'gone');
    say(state, `✕ This agent has not answered since ${clock(feed.answeredAt)}, for ${long(Math.round((Date.now() - feed.answeredAt) / 1000))}. `
      + `${now ? 'Below is what it said then. ' : ''}Trying again ${wait ? `in ${wait} s` : 'now'}.`);
    return;
  }
  if (!now) return;
  const votes = votesOf(now), isCutOff = votes.heard < votes.needed && votes.all > 1;
  const restarted = restartedMs && now.now_ms - restartedMs < 60000 ? ` It was restarted at ${clock(restartedMs)}.` : '';
  const isFine = warnings.length === 0;
  mark(document.body, 'state', isCutOff ? 'cut-off' : isFine ? 'fine' : 'warned');
  say(state, isCutOff
    ? `✕ Cut off: ${plain(now.member)} hears ${votes.heard} of ${votes.all} votes, its own included, and ${votes.needed} are needed. Groups below may have a leader elsewhere that it does not hear.${restarted}`
    : `${isFine ? '✓' : '!'} ${plain(now.member)} hears ${votes.heard} of ${votes.all} votes. ${groupsLine(now)}${restarted}`);
  say(find('foot'), `Elector ${plain(now.version)}, this agent runs since ${new Date(now.started_ms).toISOString().slice(0, 19).replace('T', ' ')}. All times are UTC.`);
}

function onLink(link: Link): void {
  const words = { new: '', live: '● Live', polling: '○ Every 2 s', gone: '✕ No answer' };
  say(find('pulse'), words[link]);
  find('pulse').title = link === 'polling' ? 'The agent has no room for another reader of /events; the page asks every 2 s' : '';
  mark(find('pulse'), 'link', link);
  if (link === 'gone') reveal();
  showState();
}

setUpTheme();
command(find('doctor'), 'check this member');
sayCommand(find('doctor'), 'elector doctor');
find('retry').addEventListener('click', () => feed.retry());
window.addEventListener('hashchange', readHash);
window.setInterval(() => { if (feed.link === 'gone') showState(); }, 1000);
readHash();
feed.start();
