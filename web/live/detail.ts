// One group: the last change as `elector why` tells it, its tenures, and the commands to act on it.
import { ask, type Group, type Groups, type History, type Overview, type Tenure, type Why } from './api';
import { urlOption } from './agent';
import { command, fillRow, find, make, mark, repeat, row, say, sayCommand } from './dom';
import { showTimeline } from './timeline';
import { count, grouped, ledFor, plain, shell, shortStamp, span, stamp } from './words';

/** The cause as a clause that follows "until"; the words are those of `elector why`. */
const ENDS: Record<string, string> = {
  'resigned': 'it resigned', 'no-quorum': 'no majority renewed its lease', 'worker gone': 'its worker was gone',
  'handed over': 'it handed over', 'lease ran out': 'its lease ran out', 'deposed': 'a later leader was heard',
  'released': 'it released those who had voted for it', 'obituary': 'its death was confirmed',
  'let go': 'it said that it leads no more', 'lost sight': 'it was lost from sight', 'agent ended': 'its agent ended',
};

function headOf(why: Why): string {
  const { after } = why;
  if (!after) return `${plain(why.group)}: nobody leads.`;
  return `${plain(why.group)}: ${plain(after.leader)} leads with token ${after.token}, since ${stamp(after.at)} UTC (${span(after.age_us)} ago).`;
}

function beforeOf(why: Why): string {
  const { before, after } = why;
  if (!before) return 'Nobody is known to have led before.';
  const detail = before.detail ? ` (${plain(before.detail)})` : '';
  const gap = after && after.nobody_us !== null ? ` Nobody led for ${span(after.nobody_us)}.` : '';
  return `Before, ${plain(before.leader)} led with token ${before.token} for ${ledFor(before)}, until ${ENDS[before.ended ?? ''] ?? 'another led'}${detail}.${gap}`;
}

export class Detail {
  name = '';
  private group: Group | undefined;
  private why: Why | null = null;
  private history: History | null = null;
  private overview: Overview | null = null;
  private load = 0;
  private nowOffsetMs = 0; // the agent's clock less ours
  private readonly codes = new Map<string, HTMLElement>();
  private readonly target = make('select', { id: 'target' });

  constructor() {
    find('span').addEventListener('change', () => this.showTimeline());
    this.target.addEventListener('change', () => this.showCommands());
    for (const [verb, says] of [['why', 'Explain the last change'], ['history', 'List past leaders'], ['observe', 'Watch it'], ['transfer', 'Hand over to'], ['resign', 'Make the leader resign']]) {
      const code = make('code'), label = make('span', {}, says!);
      if (verb === 'transfer') label.append(' ', make('label', { for: 'target', class: 'quiet' }, 'Member to hand over to'), this.target);
      find('commands').append(make('div', { class: 'command' }, label, code));
      command(code, says!);
      this.codes.set(verb!, code);
    }
  }

  /** Of the group, as the table has it, if it is there. */
  async choose(name: string, group: Group | undefined): Promise<void> {
    const isOther = name !== this.name;
    this.name = name;
    if (isOther) Object.assign(this, { why: null, history: null, group: undefined });
    if (group) this.group = group;
    say(find('detail-title'), `Why leadership of ${plain(name)} moved`);
    await this.refresh();
  }

  async refresh(): Promise<void> {
    const mine = ++this.load, path = this.name.split('/').map(encodeURIComponent).join('/');
    if (!this.name) return;
    try {
      const [why, history] = await Promise.all([ask<Why>(`/why/${path}`), ask<History>(`/history/${path}`)]);
      if (mine !== this.load) return;
      Object.assign(this, { why, history });
      if (!this.group) this.group = (await ask<Groups>(`/groups?search=${encodeURIComponent(this.name)}`)).groups.find((one) => one.group === this.name);
      this.show();
    } catch (error) {
      if (mine !== this.load || this.why) return; // what is shown stays
      find('detail-none').hidden = false;
      find('detail-body').hidden = true;
      say(find('detail-none'), `${plain(this.name)}: ${error instanceof Error ? plain(error.message) : 'no answer'}`);
    }
  }

  tick(overview: Overview, group: Group | undefined): void {
    this.overview = overview;
    this.nowOffsetMs = overview.now_ms - Date.now();
    if (group) this.group = group;
    if (this.why) this.showCommands();
    if (this.history) this.showTimeline();
  }

  private show(): void {
    const { why } = this;
    if (!why) return;
    find('detail-none').hidden = true;
    find('detail-body').hidden = false;
    const hasChanged = why.steps.length > 0;
    say(find('head'), hasChanged ? headOf(why) : `${plain(why.group)}: nothing has changed as far as this agent remembers.`);
    say(find('before'), hasChanged ? beforeOf(why) : '');
    say(find('steps-caption'), `As seen by ${plain(why.member)}.${why.left_out ? ` ${count(why.left_out, 'step')} in the middle left out.` : ''} Agents see different parts: the old leader’s knows the cause, the new leader’s the votes.`);
    repeat(find('steps'), why.steps, () => row(2), (tr, step) => {
      fillRow(tr, [`${grouped(step.us)} µs`, plain(step.text) + ((step.times ?? 1) > 1 ? ` (${step.times} times)` : '')]);
      mark(tr, 'by', step.by);
    });
    this.showTenures();
    this.showTimeline();
    this.showCommands();
  }

  private showTenures(): void {
    const tenures = [...(this.history?.tenures ?? [])].reverse();
    repeat(find('tenures'), tenures, () => row(7), (tr, tenure: Tenure) => fillRow(tr, [shortStamp(tenure.at, Date.now() + this.nowOffsetMs), plain(tenure.leader), String(tenure.token),
      plain(tenure.began), plain(tenure.ended ?? 'leads'), ledFor(tenure), tenure.nobody_us === null ? '–' : span(tenure.nobody_us)]));
    say(find('tenures-note'), this.history?.since ? `As this agent knows them since ${stamp(this.history.since)} UTC; at most 64.` : '');
  }

  private showTimeline(): void {
    const seconds = Number(find<HTMLSelectElement>('span').value);
    showTimeline(this.history?.tenures ?? [], this.overview?.members.map((member) => member.name) ?? [], Date.now() + this.nowOffsetMs, seconds);
  }

  /** On this agent's host: it passes requests on to the leader's agent. */
  private showCommands(): void {
    const { group, overview } = this, name = shell(this.name);
    const url = overview ? urlOption(overview) : '';
    const note = group?.leader ? '' : '   # nobody leads now';
    const others = (group?.standing ?? []).map(({ member }) => member).filter((member) => member !== group?.leader);
    this.listTargets(others);
    for (const verb of ['why', 'history', 'observe']) sayCommand(this.codes.get(verb)!, `elector ${verb} ${name}${url}`);
    const to = this.target.value;
    sayCommand(this.codes.get('transfer')!, `elector transfer ${name} --to ${to ? shell(to) : 'MEMBER'}${url}${note}`);
    sayCommand(this.codes.get('resign')!, `elector resign ${name}${url}${note}`);
  }

  private listTargets(names: string[]): void {
    const was = this.target.value, has = [...this.target.options].map((option) => option.value).join();
    const wanted = names.length ? names : [''];
    if (has === wanted.join()) return;
    this.target.replaceChildren(...wanted.map((name) => make('option', { value: name }, name ? plain(name) : 'nobody else stands')));
    if (names.includes(was)) this.target.value = was;
  }
}
