// What leaves the page: files that the browser saves, pictures, and the text for a slide.
import { Format } from '../shared/engine';
import { Run } from '../shared/run';
import { make } from './dom';
import { Item } from './menu';
import { valuesOf, withLine } from './script';

export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = make('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const files: Record<Format, { suffix: string; type: string }> = {
  transcript: { suffix: 'txt', type: 'text/plain' }, svg: { suffix: 'svg', type: 'image/svg+xml' },
  trace: { suffix: 'jsonl', type: 'application/jsonl' }, mermaid: { suffix: 'mmd', type: 'text/plain' }, shiviz: { suffix: 'log', type: 'text/plain' },
};

function exportRun(run: Run, name: string, format: Format): void {
  const { suffix, type } = files[format];
  download(`${name}.${suffix}`, run.write(format), type);
}

/** The diagram of `elector sim --svg` as pixels, twice as many as it needs. */
async function exportPicture(run: Run, name: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([run.write('svg')], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
    const canvas = make('canvas', { width: String(Math.round(image.width * scale)), height: String(Math.round(image.height * scale)) });
    const context = canvas.getContext('2d')!;
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    if (blob) download(`${name}.png`, blob, 'image/png');
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function exportItems(run: Run, name: string, embed: () => void): Item[] {
  return [
    { label: 'Diagram as SVG', act: () => exportRun(run, name, 'svg') },
    { label: 'Diagram as PNG', act: () => void exportPicture(run, name) },
    { label: 'Transcript', act: () => exportRun(run, name, 'transcript') },
    { label: 'Trace (JSON Lines)', act: () => exportRun(run, name, 'trace') },
    { label: 'Mermaid', act: () => exportRun(run, name, 'mermaid') },
    { label: 'ShiViz log', act: () => exportRun(run, name, 'shiviz') },
    'line',
    { label: 'Copy <iframe> for a slide', act: embed },
  ];
}

/** A script as a file: with what happened as its expectations, so that a test can hold it to them. */
export function asScenario(run: Run, text: string, title: string): string {
  let made = text.startsWith('#') ? text : `# ${title}\n${text}`;
  if (valuesOf(made, 'expect').length > 0) return made;
  made = withLine(made, 'expect', `leader ${run.about.agreed ? run.id(run.about.leader) : 'none'}`);
  made = withLine(made, 'expect', `messages ${run.about.messages}`);
  const kinds = [...new Set(run.about.violations.map((violation) => violation.text.split(' ')[0]))];
  for (const kind of kinds) made = withLine(made, 'expect', `violation ${kind}`);
  return kinds.length ? made : withLine(made, 'expect', 'no violation');
}
