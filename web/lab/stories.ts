// The stories of scenarios/, grouped as their folders are, found by a word.
import { button, make } from './dom';
import { storyOf, valueOf } from './script';

export type Stories = Record<string, string>;

const groupTitles: Record<string, string> = {
  ring: 'Rings of the lectures', 'ring-classics': 'Classic rings', bully: 'The bully', mesh: 'Everybody knows everybody',
  'split-brain': 'Split brain', ranks: 'Ranks', paxos: 'Paxos', raft: 'Raft', 'zookeeper-fle': 'ZooKeeper', chubby: 'Chubby’s leases',
  store: 'etcd, ZooKeeper, Kubernetes', quorum: 'Quorum: our own', 'quorum-attacks': 'Attacks on quorum',
  'quorum-members': 'Quorum changes its members', members: 'Who is a member is decided', groups: 'Many groups', check: 'Counterexamples of the checker',
  scripts: 'Move by move', detectors: 'Failure detectors',
};

export const words = (name: string): string => {
  const text = name.replace(/^.*\//, '').replace(/-/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const groupOf = (name: string): string => name.split('/')[0];

export class StoryList {
  private readonly items = new Map<string, HTMLButtonElement>();
  private readonly about = make('p', { class: 'about-story', hidden: true });

  constructor(private readonly host: HTMLElement, private readonly stories: Stories, choose: (name: string) => void) {
    host.classList.add('stories');
    const search = make('input', { type: 'search', placeholder: 'Find a story', 'aria-label': 'Find a story' });
    host.append(this.about, search);
    const order = Object.keys(groupTitles), groups = new Map<string, string[]>();
    for (const name of Object.keys(stories)) groups.set(groupOf(name), [...(groups.get(groupOf(name)) ?? []), name]);
    const sorted = [...groups.keys()].sort((a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99));
    for (const group of sorted) host.append(this.makeGroup(group, groups.get(group) ?? [], choose));
    search.addEventListener('input', () => this.filter(search.value));
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
    for (const [name, item] of this.items) {
      const text = `${name} ${this.stories[name]}`.toLowerCase();
      item.parentElement!.hidden = !sought.every((word) => text.includes(word));
    }
    for (const group of this.host.querySelectorAll('details')) {
      const shown = [...group.querySelectorAll('li')].filter((each) => !each.hidden).length;
      group.hidden = shown === 0;
      group.open = sought.length > 0 ? shown > 0 : group.querySelector('[aria-current]') !== null;
      group.querySelector('span')!.textContent = String(shown);
    }
  }

  /** Marks the story that is shown, and tells what it is; none if the script is the reader's own. */
  show(name: string | undefined, tale: string): void {
    for (const [each, item] of this.items) {
      if (each === name) {
        item.setAttribute('aria-current', 'true');
        item.closest('details')!.open = true;
      } else {
        item.removeAttribute('aria-current');
      }
    }
    this.about.hidden = tale === '';
    this.about.textContent = tale;
  }
}

export function titleOf(text: string, story: string | undefined, isChanged: boolean): string {
  const algorithm = valueOf(text, 'algorithm') ?? '';
  if (story === undefined) return algorithm;
  const group = groupTitles[groupOf(story)] ?? words(groupOf(story));
  return `${group}: ${words(story)}${isChanged ? ' (changed)' : ''}`;
}
