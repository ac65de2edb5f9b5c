// The stories of scenarios/, grouped as their folders are, found by a word.
import { button, make } from './dom';
import { storyOf, valueOf } from './script';
import { figures, words } from './titles';

export type Stories = Record<string, string>;

const groupTitles: Record<string, string> = {
  ring: 'Rings of the lectures', 'ring-classics': 'Classic rings', bully: 'The bully', mesh: 'Everybody knows everybody',
  'split-brain': 'Split brain', ranks: 'Ranks', paxos: 'Paxos', raft: 'Raft', 'zookeeper-fle': 'ZooKeeper', chubby: 'Chubby’s leases',
  store: 'etcd, ZooKeeper, Kubernetes', quorum: 'Quorum: our own', 'quorum-attacks': 'Attacks on quorum',
  'quorum-members': 'Quorum changes its members', members: 'Who is a member is decided', groups: 'Many groups', check: 'Counterexamples of the checker',
  scripts: 'Move by move', detectors: 'Failure detectors',
};

const groupOf = (name: string): string => name.split('/')[0];

export class StoryList {
  private readonly items = new Map<string, HTMLButtonElement>();
  private readonly shortcuts = new Map<string, HTMLButtonElement>();
  private readonly about = make('div', { class: 'about-story', role: 'region', tabindex: '0', 'aria-label': 'What this story is' });

  constructor(private readonly host: HTMLElement, private readonly stories: Stories, choose: (name: string) => void) {
    host.classList.add('stories');
    const search = make('input', { type: 'search', placeholder: 'Find a story', 'aria-label': 'Find a story' });
    host.append(this.about, search);
    const order = Object.keys(groupTitles), groups = new Map<string, string[]>();
    for (const name of Object.keys(stories)) groups.set(groupOf(name), [...(groups.get(groupOf(name)) ?? []), name]);
    const sorted = [...groups.keys()].sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
    host.append(this.makeFigures(choose));
    for (const group of sorted) host.append(this.makeGroup(group, groups.get(group) ?? [], choose));
    search.addEventListener('input', () => this.filter(search.value));
  }

  /** Each one click from the beginning. */
  private makeFigures(choose: (name: string) => void): HTMLElement {
    const list = make('ul');
    for (const [name, title] of figures) {
      const item = button(title, () => choose(name), { title: storyOf(this.stories[name]).split('\n')[0], 'data-figure': name });
      this.shortcuts.set(name, item);
      list.append(make('li', {}, item));
    }
    return make('details', { open: true }, make('summary', {}, 'Figures of the literature', make('span', {}, String(figures.length))), list);
  }

  private makeGroup(group: string, names: string[], choose: (name: string) => void): HTMLElement {
    const list = make('ul');
    for (const name of names) {
      const item = button(words(name), () => choose(name), { title: storyOf(this.stories[name]).split('\n')[0], 'data-story': name });
      this.items.set(name, item);
      list.append(make('li', {}, item));
    }
    return make('details', {}, make('summary', {}, groupTitles[group] ?? words(group), make('span', {}, String(names.length))), list);
  }

  private filter(typed: string): void {
    const sought = typed.toLowerCase().split(/\s+/).filter((word) => word !== '');
    for (const [name, item] of [...this.items, ...this.shortcuts]) {
      const text = `${name} ${item.textContent} ${this.stories[name]}`.toLowerCase();
      item.parentElement!.hidden = !sought.every((word) => text.includes(word));
    }
    for (const group of this.host.querySelectorAll('details')) {
      const shown = [...group.querySelectorAll('li')].filter((each) => !each.hidden).length;
      group.hidden = shown === 0;
      group.open = sought.length > 0 ? shown > 0 : group.querySelector('[aria-current], [data-figure]') !== null;
      group.querySelector('span')!.textContent = String(shown);
    }
  }

  /** Marks the story that is shown, and tells what it is; none if the script is the reader's own. */
  show(name: string | undefined, tale: string): void {
    for (const [each, item] of [...this.items, ...this.shortcuts]) {
      if (each === name) item.setAttribute('aria-current', 'true'); else item.removeAttribute('aria-current');
    }
    const shown = name === undefined ? undefined : this.shortcuts.get(name) ?? this.items.get(name);
    if (shown) shown.closest('details')!.open = true;
    this.about.textContent = tale || 'A run of your own.'; // its box is as high: the list stays where it is
  }
}

export function titleOf(text: string, story: string | undefined, isChanged: boolean): string {
  const algorithm = valueOf(text, 'algorithm') ?? '';
  if (story === undefined) return algorithm;
  const group = groupTitles[groupOf(story)] ?? words(groupOf(story));
  return `${group}: ${words(story)}${isChanged ? ' (changed)' : ''}`;
}
