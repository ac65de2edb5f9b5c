// The keys: what they do is said in help.ts. They do nothing while somebody types or a menu is open.
import { menuIsOpen } from './menu';

export function wireKeys(keys: Record<string, () => void>, undo: () => void, redo: () => void): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const typing = target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== 'range');
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z' && !typing) {
      event.preventDefault();
      return event.shiftKey ? redo() : undo();
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || menuIsOpen() || target.getAttribute('role') === 'tab') return;
    const isPressed = event.key === ' ' && (target instanceof HTMLButtonElement || target.tagName === 'SUMMARY'); // that is a click
    const act = isPressed ? undefined : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
