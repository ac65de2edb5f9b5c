// Permalinks: everything that a run needs is in the fragment, which is never sent to a server.
//
//   #story=ring/six-n3-starts             a story as it comes
//   #scenario=TEXT                        any script
//   &compare=NAME  &at=T  &embed          beside another algorithm; where to begin, in delays or ms; without panels

export interface Place { story?: string; scenario?: string; compare?: string; at?: number; embed: boolean }

/** The fragment says something that no permalink says. */
export class LinkError extends Error {}

const known: ReadonlySet<string> = new Set(['story', 'scenario', 'compare', 'at', 'embed', 'deck']);

export function readLink(fragment: string): Place {
  const place: Place = { embed: false };
  for (const part of fragment.replace(/^#/, '').split('&').filter((each) => each !== '')) {
    const [key, coded = ''] = part.split(/=(.*)/s);
    if (!known.has(key)) throw new LinkError(`permalink: '${key.slice(0, 40)}' is none of story, scenario, compare, at, embed`);
    let value: string;
    try {
      value = decodeURIComponent(coded.replace(/\+/g, ' '));
    } catch {
      throw new LinkError(`permalink: the value of '${key}' is damaged at '${/%(?![0-9A-Fa-f]{2}).{0,4}/.exec(coded)?.[0] ?? coded.slice(-12)}'; ask for the link again`);
    }
    if (key === 'story') place.story = value;
    if (key === 'scenario') place.scenario = value;
    if (key === 'compare') place.compare = value;
    if (key === 'embed') place.embed = true;
    if (key === 'at') {
      place.at = Number(value);
      if (!Number.isFinite(place.at) || place.at < 0) throw new LinkError(`permalink: '${value.slice(0, 20)}' is no time; at=3.5 is one`);
    }
  }
  return place;
}

const code = (text: string) => encodeURIComponent(text).replace(/%20/g, '+').replace(/%2C/g, ',').replace(/%40/g, '@').replace(/%3E/g, '>');

export function writeLink(place: Place): string {
  const parts: string[] = [];
  if (place.story !== undefined) parts.push(`story=${place.story}`);
  else if (place.scenario !== undefined) parts.push(`scenario=${code(place.scenario)}`);
  if (place.compare) parts.push(`compare=${place.compare}`);
  if (place.at) parts.push(`at=${place.at}`);
  if (place.embed) parts.push('embed');
  return `#${parts.join('&')}`;
}
