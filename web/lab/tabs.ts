// The panels at the side: one is shown, and the arrow keys go from tab to tab.
import { find } from './dom';

export function wireTabs(names: string[]): void {
  const choose = (name: string, focus: boolean) => {
    for (const each of names) {
      const tab = find(`tab-${each}`);
      tab.setAttribute('aria-selected', String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      find(each).hidden = each !== name;
      if (each === name && focus) tab.focus();
    }
  };
  names.forEach((name, i) => {
    find(`tab-${name}`).addEventListener('click', () => choose(name, false));
    find(`tab-${name}`).addEventListener('keydown', (event) => {
      if (event.key === 'ArrowRight') choose(names[(i + 1) % names.length], true);
      if (event.key === 'ArrowLeft') choose(names[(i + names.length - 1) % names.length], true);
    });
  });
  choose(names[0], false);
}
