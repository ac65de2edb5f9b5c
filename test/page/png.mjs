// Makes a screenshot small: a PNG of 8-bit pixels becomes one with a palette of 256 colours. A third of the bytes, and nobody sees it.
import { deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunks(png) {
  const found = [];
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

/** Undoes the five filters of PNG, row by row. */
function unfilter(raw, width, height, size) {
  const stride = width * size, out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; i++) {
      const left = i >= size ? out[y * stride + i - size] : 0, up = y ? out[(y - 1) * stride + i] : 0;
      const corner = y && i >= size ? out[(y - 1) * stride + i - size] : 0, p = left + up - corner;
      const near = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
      const paeth = near[0] <= near[1] && near[0] <= near[2] ? left : near[1] <= near[2] ? up : corner;
      out[y * stride + i] = raw[y * (stride + 1) + 1 + i] + [0, left, up, (left + up) >> 1, paeth][filter];
    }
  }
  return out;
}

/** zlib has it only since node 20. */
function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]), length = Buffer.alloc(4), sum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

const distance = (a, b) => [16, 8, 0].reduce((sum, s) => sum + ((a >> s & 255) - (b >> s & 255)) ** 2, 0);
const clearlyOther = 3 * 16 ** 2;

/** First those that are clearly different, the frequent ones before the rare: a small swatch keeps its colour, whatever shades of grey letters have. */
export function paletteOf(counts, colours = 256) {
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([colour]) => colour), palette = [];
  for (const colour of sorted) if (palette.length < colours / 2 && palette.every((each) => distance(each, colour) > clearlyOther)) palette.push(colour);
  const chosen = new Set(palette);
  for (const colour of sorted) if (chosen.size < colours) chosen.add(colour);
  return [...chosen];
}

export function withPalette(png) {
  const parts = chunks(png), head = parts.find(({ type }) => type === 'IHDR').data;
  const width = head.readUInt32BE(0), height = head.readUInt32BE(4), size = head[9] === 6 ? 4 : 3;
  const pixels = unfilter(inflateSync(Buffer.concat(parts.filter(({ type }) => type === 'IDAT').map(({ data }) => data))), width, height, size);
  const counts = new Map();
  const colourAt = (i) => pixels[i * size] << 16 | pixels[i * size + 1] << 8 | pixels[i * size + 2];
  for (let i = 0; i < width * height; i++) counts.set(colourAt(i), (counts.get(colourAt(i)) ?? 0) + 1);
  const palette = paletteOf(counts);
  const nearest = new Map();
  for (const colour of counts.keys()) nearest.set(colour, palette.reduce((best, each, i) => distance(colour, each) < distance(colour, palette[best]) ? i : best, 0));
  const rows = Buffer.alloc((width + 1) * height);
  for (let i = 0; i < width * height; i++) rows[Math.floor(i / width) * (width + 1) + 1 + i % width] = nearest.get(colourAt(i));
  const newHead = Buffer.from(head);
  newHead.set([8, 3], 8); // 8 bits, by palette
  const table = Buffer.from(palette.flatMap((colour) => [colour >> 16 & 255, colour >> 8 & 255, colour & 255]));
  return Buffer.concat([signature, chunk('IHDR', newHead), chunk('PLTE', table), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}
