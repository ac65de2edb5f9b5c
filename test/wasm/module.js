// What the WebAssembly module says, line for line like native.c.
'use strict';
const fs = require('fs');

const module_ = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
if (WebAssembly.Module.imports(module_).length > 0) throw new Error('the module asks for imports');
const core = new WebAssembly.Instance(module_).exports;

const WIRE_SIZE = 80;
const MSG_SIZE = 80;
const heap = (core.__heap_base.value + 15) & ~15;
const at = { hash: heap, msg: heap + 64, wire: heap + 144, count: heap + 224, bytes: heap + 256 };
while (core.memory.buffer.byteLength < heap + 4096) core.memory.grow(1);
const memory = new Uint8Array(core.memory.buffer);
const view = new DataView(core.memory.buffer);
const lines = [];

let seed = 2026;
function byte() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed >>> 24;
}
function fill(address, size) {
  for (let i = 0; i < size; i++) memory[address + i] = byte();
}
function hex(address, size) {
  return Buffer.from(memory.subarray(address, address + size)).toString('hex');
}
function hex64(address) {
  return view.getBigUint64(address, true).toString(16).padStart(16, '0');
}
function text(address) {
  return Buffer.from(memory.subarray(address, memory.indexOf(0, address))).toString();
}
function find(name, among = core.el_algorithm_named) {
  const bytes = Buffer.from(name + '\0');
  memory.set(bytes, at.bytes);
  return among(at.bytes);
}

for (let size = 0; size <= 200; size++) {
  fill(at.bytes, size);
  core.el_fingerprint(at.hash, at.bytes, size);
  lines.push(`fingerprint ${size} ${hex64(at.hash)}${hex64(at.hash + 8)}`);
}

for (let i = 0; i < 100; i++) {
  fill(at.msg, MSG_SIZE);
  memory[at.msg + 14] = memory[at.msg + 15] = 0; // spare
  core.el_encode(at.msg, at.wire);
  lines.push(`encode ${hex(at.wire, WIRE_SIZE)}`);
  memory.fill(0, at.msg, at.msg + MSG_SIZE);
  const verdict = core.el_decode(at.wire, WIRE_SIZE, at.msg);
  lines.push(`decode ${verdict} ${hex(at.msg, MSG_SIZE)}`);
  memory[at.wire + (i % 4)] = byte();
  lines.push(`damaged ${core.el_decode(at.wire, WIRE_SIZE, at.msg)}`);
  lines.push(`short ${core.el_decode(at.wire, byte() % WIRE_SIZE, at.msg)}`);
}

const all = core.el_algorithms(at.count);
const count = view.getUint32(at.count, true);
lines.push(`algorithms ${count}`);
for (let i = 0; i < count; i++) {
  const algorithm = view.getUint32(all + 4 * i, true);
  const name = text(view.getUint32(algorithm, true));
  lines.push(`algorithm ${name} ${find(name) === algorithm ? 'found' : 'lost'}`);
}
lines.push(`algorithm no-such ${find('no-such') ? 'found' : 'none'}`);

const detectors = core.el_detectors(at.count);
const detectorCount = view.getUint32(at.count, true);
lines.push(`detectors ${detectorCount}`);
for (let i = 0; i < detectorCount; i++) {
  const detector = view.getUint32(detectors + 4 * i, true);
  const name = text(view.getUint32(detector, true));
  lines.push(`detector ${name} ${find(name, core.el_detector_named) === detector ? 'found' : 'lost'}`);
}

function number() {
  let word = 0n;
  for (let i = 0; i < 8; i++) word = (word << 8n) | BigInt(byte());
  return word >> BigInt(byte() % 64);
}
function phi(elapsed, mean, deviation) {
  return core.el_phi_thousandths(elapsed, mean, deviation) >>> 0;
}
for (let i = 0; i < 1000; i++) {
  const [elapsed, mean, deviation] = [number(), number(), number()];
  lines.push(`phi ${elapsed} ${mean} ${deviation} ${phi(elapsed, mean, deviation)}`);
}
for (let y = 0n; y < 8000n; y += 7n) lines.push(`phi ${y} ${phi(y, 3000n, 1000n)}`);

process.stdout.write(lines.join('\n') + '\n');
