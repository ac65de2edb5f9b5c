// Light or dark: as the system says, until the button is pressed.
import { find } from './dom';

const KEY = 'elector-theme';

function saved(): string | null {
  try { return localStorage.getItem(KEY); } catch { return null; } // a browser may forbid it
}

export function setUpTheme(): void {
  const root = document.documentElement, button = find('theme'), system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const tell = () => button.setAttribute('aria-pressed', String(isDark()));
  const was = saved();
  if (was === 'dark' || was === 'light') root.dataset.theme = was;
  button.setAttribute('aria-label', 'Dark');
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try { localStorage.setItem(KEY, root.dataset.theme); } catch { /* then only for now */ }
    tell();
  });
  system.addEventListener('change', tell);
  tell();
}
