// Starts the laboratory: unpacks the simulator and the stories, and shows what the address says.
import { Engine } from '../shared/engine';
import { find } from './dom';
import { Lab } from './lab';
import { Stories } from './stories';

async function unpack(id: string): Promise<Uint8Array> {
  const bytes = Uint8Array.from(atob(find(id).textContent ?? ''), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function chooseTheme(): void {
  let theme: string | null = null;
  try { theme = localStorage.getItem('theme'); } catch { /* it was not kept */ }
  theme ??= matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme;
}

async function start(): Promise<void> {
  chooseTheme();
  const [module, stories] = await Promise.all([unpack('module'), unpack('stories-data')]);
  const engine = await Engine.load(module as BufferSource);
  const opened = document.getElementById('opened'); // by `elector replay --output page`
  const home = opened ? { name: opened.dataset.name ?? '', text: opened.textContent ?? '', about: opened.dataset.about ?? '', recorded: true } : undefined;
  const lab = new Lab(engine, JSON.parse(new TextDecoder().decode(stories)) as Stories, home);
  lab.begin(location.hash);
  Object.assign(window, { lab });
  requestAnimationFrame(() => performance.mark('first-frame'));
  document.documentElement.dataset.ready = 'yes';
}

start().catch((error: unknown) => {
  const message = find('message');
  document.documentElement.dataset.ready = 'no';
  message.hidden = false;
  message.classList.add('bad');
  message.querySelector('span')!.textContent = `The laboratory did not start: ${String(error)}. It needs a browser with WebAssembly and DecompressionStream.`;
});
