// Numbers, times and foreign text in words.

/** Text from outside. Characters that hide or reorder others are spelled out, so that a value cannot pose as another. */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu,
    (one) => `⟨U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** As `elector history` writes it: 812 us, 3.42 ms, 12.3 s, 5 min, 2 h, 3 d. */
export function span(us: number): string {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${short(us / 1000)} ms`;
  if (us < 120e6) return `${short(us / 1e6)} s`;
  if (us < 7200e6) return `${Math.floor(us / 60e6)} min`;
  if (us < 172800e6) return `${Math.floor(us / 3600e6)} h`;
  return `${Math.floor(us / 86400e6)} d`;
}

/** A leader may have ended while this agent was down: then only a bound is known. */
export function ledFor(tenure: { led_us: number; led_at_most?: boolean }): string {
  return `${tenure.led_at_most ? 'at most ' : ''}${span(tenure.led_us)}`;
}

function short(number: number): string {
  return number < 10 ? number.toFixed(2) : number < 100 ? number.toFixed(1) : number.toFixed(0);
}

export function grouped(number: number): string {
  return number.toLocaleString('en');
}

export function clock(ms: number): string {
  const at = new Date(ms), two = (n: number) => String(n).padStart(2, '0');
  return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
}

/** The agent's time stamp, shortened to milliseconds: 2026-01-31 12:00:00.123. */
export function stamp(at: string): string {
  return at.replace('T', ' ').replace(/(\.\d{3})\d*Z$/, '$1');
}

/** The same without the date, if that is the present one. */
export function shortStamp(at: string, nowMs: number): string {
  const text = stamp(at), today = new Date(nowMs).toISOString().slice(0, 11).replace('T', ' ');
  return text.startsWith(today) ? text.slice(today.length) : text;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** A name for a shell. Names of groups and members need no quotes; whatever does gets them. */
export function shell(text: string): string {
  return /^[A-Za-z0-9._:/=-]+$/.test(text) ? text : `'${plain(text).replaceAll("'", "'\\''")}'`;
}
