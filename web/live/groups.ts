// The table of groups. The agent searches and pages: the browser holds one page, however many groups there are.
import { ask, type Change, type Group, type Groups, type Overview } from './api';
import { find, make, mark, repeat, say } from './dom';
import { count, grouped, plain, span } from './words';

const PAGE = 15;
const SEARCH_AFTER_MS = 200;
const REFRESH_MS = 2000;

export class GroupTable {
  private rows: Group[] = [];
  private from = 0;
  private next: number | null = null;
  private before: number[] = []; // where the earlier pages begin
  private total = 0;
  private isSearching = false;
  private isReading = false;
  private load = 0; // the number of the newest
  private loadedAt = 0;
  private tookMs = 0;
  private timer = 0;
  private memberNames = '';
  private chosen = '';
  worstFailoverMs = 0;

  constructor(private readonly choose: (name: string) => void, private readonly loaded: () => void) {
    const form = find<HTMLFormElement>('search');
    form.addEventListener('submit', (event) => { event.preventDefault(); this.restart(); });
    find('search-text').addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.restart(), SEARCH_AFTER_MS);
    });
    find('search-leader').addEventListener('change', () => this.restart());
    find('first').addEventListener('click', () => this.restart());
    find('previous').addEventListener('click', () => void this.turn(this.before.pop() ?? 0));
    find('next').addEventListener('click', () => {
      if (this.next === null) return;
      this.before.push(this.from);
      void this.turn(this.next);
    });
    find('group-rows').addEventListener('keydown', (event) => this.onKey(event));
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      find('search-text').focus();
    });
  }

  get first(): Group | undefined { return this.rows[0]; }
  find(name: string): Group | undefined { return this.rows.find((group) => group.group === name); }

  mark(name: string): void {
    this.chosen = name;
    this.show();
  }

  /** Up and down between the groups. */
  private onKey(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const buttons = [...find('group-rows').querySelectorAll('button')];
    const to = buttons[buttons.indexOf(event.target as HTMLButtonElement) + step];
    if (!step || !to) return;
    event.preventDefault();
    to.focus();
  }

  private restart(): void {
    clearTimeout(this.timer);
    this.before = [];
    void this.turn(0);
  }

  private async turn(from: number): Promise<void> {
    await this.read(from, true);
  }

  private path(from: number, most: number): string {
    const query = new URLSearchParams({ from: String(from), most: String(most) });
    const text = find<HTMLInputElement>('search-text').value.trim(), leader = find<HTMLSelectElement>('search-leader').value;
    if (text) query.set('search', text);
    if (leader !== '*') query.set('leader', leader);
    return `/groups?${query.toString().replaceAll('+', '%20')}`;
  }

  /** Asks on until the page is full: one request looks at a part of the groups only. */
  private async read(from: number, isTurn: boolean): Promise<void> {
    const mine = ++this.load, began = performance.now();
    const rows: Group[] = [];
    let next: number | null = from;
    this.isSearching = isTurn;
    this.isReading = true;
    this.showRange();
    try {
      do {
        const answer: Groups = await ask<Groups>(this.path(next, PAGE - rows.length));
        if (mine !== this.load) return;
        rows.push(...answer.groups);
        next = answer.next;
        this.total = answer.count;
        this.worstFailoverMs = Math.max(this.worstFailoverMs, answer.worst_failover_ms);
      } while (rows.length < PAGE && next !== null);
      this.rows = rows;
      this.from = from;
      this.next = next;
    } catch { /* the feed says that the agent is gone; the last page stays */
    } finally {
      if (mine === this.load) this.isSearching = this.isReading = false;
    }
    this.loadedAt = Date.now();
    this.tookMs = performance.now() - began;
    this.show();
    this.loaded();
  }

  /** The page again, if it is old. A page that took long to find is asked for less often. */
  refresh(overview: Overview): void {
    const names = overview.members.map((member) => member.name);
    if (names.join() !== this.memberNames) this.listLeaders(names);
    if (!this.isReading && Date.now() - this.loadedAt >= Math.max(REFRESH_MS - 500, 20 * this.tookMs)) void this.read(this.from, false);
  }

  /** The page has missed changes. */
  outdate(): void {
    this.loadedAt = Math.min(this.loadedAt, Date.now() - REFRESH_MS);
  }

  private listLeaders(names: string[]): void {
    const select = find<HTMLSelectElement>('search-leader'), was = select.value;
    this.memberNames = names.join();
    select.replaceChildren(make('option', { value: '*' }, 'anybody or nobody'), make('option', { value: '' }, 'nobody'),
      ...names.map((name) => make('option', { value: name }, plain(name))));
    select.value = was && names.includes(was) ? was : '*';
  }

  /** True if it is on this page. */
  change(change: Change): boolean {
    const group = this.find(change.group);
    if (!group) return false;
    Object.assign(group, { leader: change.leader, token: change.token, value: change.value, lease_left_ms: null });
    this.loadedAt = 0; // candidates and lease with the next refresh
    this.show();
    return true;
  }

  private showRange(): void {
    const { before, rows, next } = this, isFiltered = find<HTMLInputElement>('search-text').value.trim() !== '' || find<HTMLSelectElement>('search-leader').value !== '*';
    const from = before.length * PAGE + 1, to = from + rows.length - 1;
    const of = isFiltered ? (next === null ? ` of ${grouped(to)} found` : ' of those found') : ` of ${grouped(this.total)}`;
    say(find('range'), this.isSearching ? 'Searching …' : rows.length ? `${grouped(from)} to ${grouped(to)}${of}` : 'None');
    find<HTMLButtonElement>('first').disabled = find<HTMLButtonElement>('previous').disabled = before.length === 0;
    find<HTMLButtonElement>('next').disabled = next === null;
    const none = find('no-groups');
    none.hidden = rows.length > 0 || this.isSearching;
    say(none, isFiltered ? 'No group is like that.' : 'There is no group yet. `elector run GROUP -- COMMAND` makes one.');
  }

  private show(): void {
    this.showRange();
    repeat(find('group-rows'), this.rows, () => {
      const button = make('button', { type: 'button', class: 'name' });
      button.addEventListener('click', () => this.choose(button.value));
      return make('tr', {}, make('th', { scope: 'row' }, button), ...Array.from({ length: 5 }, () => make('td')));
    }, (tr, group) => this.fill(tr, group));
  }

  private fill(tr: HTMLTableRowElement, group: Group): void {
    const button = tr.cells[0]!.firstElementChild as HTMLButtonElement;
    button.value = group.group;
    say(button, plain(group.group));
    button.setAttribute('aria-pressed', String(group.group === this.chosen));
    mark(tr, 'led', group.leader === null ? 'no' : 'yes');
    const lease = group.lease_left_ms !== null ? `${span(group.lease_left_ms * 1000)} left` : group.leader === null ? '–' : `${plain(group.leader)} knows`;
    const standing = group.standing.map(({ member, priority }) => plain(member) + (priority ? ` (${priority})` : '')).join(', ');
    say(tr.cells[1]!, group.leader === null ? '✕ nobody' : plain(group.leader));
    say(tr.cells[2]!, group.leader === null ? '–' : String(group.token));
    say(tr.cells[3]!, lease);
    tr.cells[3]!.title = group.lease_left_ms === null && group.leader !== null ? 'Only the agent of the leader knows how much is left' : '';
    say(tr.cells[4]!, standing || 'none');
    tr.cells[4]!.title = `${count(group.candidates, 'candidate')} at this agent`;
    say(tr.cells[5]!, plain(group.value));
    tr.cells[5]!.title = plain(group.value);
  }
}
