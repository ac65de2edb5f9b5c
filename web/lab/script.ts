// The script of a run: the text of a scenario, which the settings, the menus and the editor all change. Each function takes a
// text and returns a text, so that undoing is keeping the old one.

export interface Line { key: string; value: string }

const repeated: ReadonlySet<string> = new Set(['initiator', 'crash', 'restart', 'wipe', 'resign', 'transfer', 'fact', 'record', 'change', 'pause', 'partition',
  'cut', 'slow', 'miss', 'false-suspect', 'clock', 'jump', 'attr', 'step', 'set', 'group', 'expect']);

export function parseLine(line: string): Line | undefined {
  const [, key, value] = /^\s*([^\s#]\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  if (!key) return undefined;
  return { key, value: key === 'step' ? value : value.replace(/\s#.*$/, '').trim() };
}

export function linesOf(text: string): Line[] {
  return text.split('\n').map(parseLine).filter((line) => line !== undefined);
}

/** The last value of a key. */
export function valueOf(text: string, key: string): string | undefined {
  return linesOf(text).filter((line) => line.key === key).pop()?.value;
}

export function valuesOf(text: string, key: string): string[] {
  return linesOf(text).filter((line) => line.key === key).map((line) => line.value);
}

export function without(text: string, ...keys: string[]): string {
  return text.split('\n').filter((line) => !keys.includes(parseLine(line)?.key ?? '')).join('\n');
}

/** Adds a line after the last one that has something to say. */
export function withLine(text: string, key: string, value: string): string {
  return `${text.replace(/\s*$/, '')}\n${key} ${value}\n`;
}

/** Replaces the lines of this key by one; an empty value removes them. */
export function withValue(text: string, key: string, value: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => parseLine(line)?.key === key);
  if (value === '') return without(text, key);
  if (at < 0) return withLine(text, key, value);
  lines[at] = `${key} ${value}`;
  return lines.filter((line, i) => i <= at || parseLine(line)?.key !== key).join('\n');
}

/** One option of the algorithm's own. */
export function withOption(text: string, name: string, value: string): string {
  const kept = text.split('\n').filter((line) => {
    const parsed = parseLine(line);
    return parsed?.key !== 'set' || !parsed.value.startsWith(`${name}=`);
  }).join('\n');
  return value === '' ? kept : withLine(kept, 'set', `${name}=${value}`);
}

/** The story of one algorithm, told by another: what only the first understands is left out. */
export function forAlgorithm(text: string, algorithm: string): string {
  return withValue(without(text, 'set', 'expect', 'script', 'step', 'fact', 'ordinary'), 'algorithm', algorithm);
}

const kept: readonly string[] = ['nodes', 'ids', 'attr', 'delay', 'loss', 'dup', 'reorder', 'detect', 'detector', 'seed'];

/** A new run of this algorithm, with the members and the network of this one; faults and their times are left out. */
export function begun(text: string, algorithm: string): string {
  return [`algorithm ${algorithm}`, ...linesOf(text).filter(({ key }) => kept.includes(key)).map(({ key, value }) => `${key} ${value}`), ''].join('\n');
}

/** What a story says about itself in the comments at its head, without the mark. */
export function storyOf(text: string): string {
  const comments: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('#')) break;
    comments.push(line.replace(/^#\s?/, ''));
  }
  return comments.join('\n').replace(/([^\n])\n(?!Source:)(?=\S)/g, '$1 ');
}

/** A change ends the expectations, which were about the run as it was. */
export function changed(text: string): string {
  return without(text, 'expect');
}

export function isRepeated(key: string): boolean {
  return repeated.has(key);
}

/** Ends what goes on without an end: the last line of this key that begins so gets "..T". */
export function withEnd(text: string, key: string, begins: (value: string) => boolean, at: string): string {
  const lines = text.split('\n');
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = parseLine(lines[i]);
    if (line?.key !== key || !begins(line.value)) continue;
    const [what, span] = line.value.split('@');
    const from = (span ?? '0').split('..')[0];
    lines[i] = `${key} ${what}@${from}..${at}`;
    return lines.join('\n');
  }
  return text;
}
