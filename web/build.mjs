// Builds the laboratory page: the simulator as a WebAssembly module, the scripts and styles, and all stories, in one HTML
// file that loads nothing. The same sources and tools give the same bytes.
//
//   node build.mjs OUTPUT.html [--module FILE.wasm]   with --module, the module is written there as well
//   node build.mjs FOLDER/live.html                   the live page of an agent instead, and its policy in FOLDER/live.policy
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

const web = dirname(fileURLToPath(import.meta.url));
const root = dirname(web);
const sizeMax = 400_000, liveSizeMax = 150_000;

function filesIn(folder, extension) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

function buildModule(output) {
  const sources = ['core', 'algorithms', 'detectors', 'sim'].flatMap((room) => filesIn(`src/${room}`, '.c'));
  sources.push('src/base/units.c', 'src/wasm/page.c', 'src/wasm/describe.c');
  const flags = ['--target=wasm32-wasi', '--sysroot=/usr', '-mexec-model=reactor', '-std=c17', '-Os', '-Wall', '-Wextra', '-Werror',
    '-ffp-contract=off', '-fvisibility=hidden', '-D_POSIX_C_SOURCE=200809L', '-Iinclude', '-Isrc',
    '-Wl,--strip-all,--gc-sections,--max-memory=536870912'];
  execFileSync('clang', [...flags, ...sources, '-o', output], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Every story of scenarios/, by its folder and name. */
function readStories() {
  return Object.fromEntries(filesIn('scenarios', '.scenario')
    .map((path) => [path.replace(/^scenarios\/|\.scenario$/g, ''), readFileSync(join(root, path), 'utf8')]));
}

async function bundle(folder) {
  const { outputFiles } = await build({
    entryPoints: [join(web, folder, 'main.ts'), join(web, folder, 'style.css')],
    bundle: true, minify: true, write: false, outdir: '/', format: 'iife', target: 'es2022', charset: 'utf8',
    legalComments: 'none', logLevel: 'warning',
  });
  const find = (extension) => outputFiles.find((file) => file.path.endsWith(extension)).text.trim();
  return { script: find('.js'), style: find('.css') };
}

const pack = (bytes) => deflateRawSync(bytes, { level: 9 }).toString('base64');
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function compilerVersion() {
  return execFileSync('clang', ['--version'], { encoding: 'utf8' }).split('\n')[0].replace(/^.*clang version /, 'clang ');
}

async function makePage(modulePath) {
  const { script, style } = await bundle('lab');
  const policy = `default-src 'none'; script-src ${hashOf(script)} 'wasm-unsafe-eval'; style-src ${hashOf(style)}; ` +
    "img-src blob: data:; base-uri 'none'; form-action 'none'";
  const parts = {
    POLICY: policy, STYLE: style, SCRIPT: script, COMPILER: compilerVersion(),
    MODULE: pack(readFileSync(modulePath)), STORIES: pack(JSON.stringify(readStories())),
  };
  return readFileSync(join(web, 'lab/page.html'), 'utf8').replace(/%([A-Z]+)%/g, (all, name) => parts[name] ?? all);
}

/** The agent sends the policy as a header, which says more than a page can: nobody may frame it. */
async function makeLivePage(output) {
  const { script, style } = await bundle('live');
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; connect-src 'self'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const page = readFileSync(join(web, 'live/page.html'), 'utf8').replace(/%([A-Z]+)%/g, (all, name) => ({ STYLE: style, SCRIPT: script })[name] ?? all);
  store(output, page, liveSizeMax);
  writeFileSync(output.replace(/html$/, 'policy'), policy);
}

function store(output, page, most) {
  const size = Buffer.byteLength(page);
  if (size > most) throw new Error(`${output}: ${size} bytes, more than ${most}`);
  if (!existsSync(output) || readFileSync(output, 'utf8') !== page) writeFileSync(output, page);
  console.log(`${relative(root, output)}: ${size} bytes`);
}

const [output, option, modulePath] = process.argv.slice(2);
if (!output || (option && option !== '--module')) {
  console.error('usage: node build.mjs OUTPUT.html [--module FILE.wasm]');
  process.exit(2);
}
if (basename(output) === 'live.html') {
  await makeLivePage(output);
  process.exit(0);
}
const scratch = mkdtempSync(join(tmpdir(), 'elector-page-'));
try {
  const module_ = modulePath ?? join(scratch, 'lab.wasm');
  buildModule(module_);
  store(output, await makePage(module_), sizeMax);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
