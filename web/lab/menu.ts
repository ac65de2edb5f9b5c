// A small menu beside what was clicked: actions, and forms of one field.
import { button, make } from './dom';

export interface Entry { label: string; act: () => void }
export interface Field { label: string; value: string; options?: string[]; done: string; act: (value: string) => void }
export type Item = Entry | Field | 'line' | HTMLElement;

let current: HTMLElement | undefined;
let opener: Element | null = null;

export function closeMenu(): void {
  if (!current) return;
  current.remove();
  current = undefined;
  if (opener instanceof HTMLElement) opener.focus();
}

function row(item: Item): HTMLElement {
  if (item === 'line') return make('hr');
  if (item instanceof HTMLElement) return item;
  if ('value' in item) {
    const input = item.options
      ? make('select', {}, ...item.options.map((value) => make('option', { value }, value)))
      : make('input', { value: item.value, size: '8' });
    const form = make('form', {}, make('label', {}, `${item.label} `, input), make('button', { type: 'submit' }, item.done));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      closeMenu();
      item.act(input.value.trim());
    });
    return form;
  }
  return button(item.label, () => { closeMenu(); item.act(); });
}

export function openMenu(title: string, items: Item[], at: DOMRect): void {
  closeMenu();
  opener = document.activeElement;
  const menu = make('div', { class: 'menu', role: 'dialog', 'aria-label': title }, make('h2', {}, title), ...items.map(row));
  document.body.append(menu);
  current = menu;
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(at.right + 6, window.innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(at.top, window.innerHeight - height - 8))}px`;
  menu.querySelector<HTMLElement>('button, input, select')?.focus();
}

document.addEventListener('pointerdown', (event) => {
  if (current && event.target instanceof Node && !current.contains(event.target)) {
    opener = null;
    closeMenu();
  }
}, true);

document.addEventListener('keydown', (event) => {
  if (!current) return;
  if (event.key === 'Escape') closeMenu();
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const all = [...current.querySelectorAll<HTMLElement>('button, input, select')];
  const at = all.indexOf(document.activeElement as HTMLElement);
  if (document.activeElement instanceof HTMLSelectElement) return;
  event.preventDefault();
  all[(at + (event.key === 'ArrowDown' ? 1 : all.length - 1)) % all.length]?.focus();
});

export function menuIsOpen(): boolean {
  return current !== undefined;
}
