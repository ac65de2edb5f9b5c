// Three real agents on loopback, with a relay between every two of them that drops what it is told to.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { until } from './bench.mjs';

const { ELECTOR: elector, BUILD: build, SCRATCH } = process.env;
const port = 7400 + process.pid % 1000;
const NAMES = ['a', 'b', 'c'];

export class Cluster {
  children = new Map(); // by what they are

  /** Of several clusters, each has its own number, addresses and folder. */
  constructor(number) {
    const own = 2 * process.pid + number;
    this.prefix = `127.${1 + own % 250}.${1 + Math.floor(own / 250) % 250}`;
    this.folder = join(SCRATCH, String(number));
    mkdirSync(this.folder);
  }

  async start() {
    const { prefix, folder: scratch } = this;
    const members = NAMES.map((name, i) => `${name}=${prefix}.${i + 1}:${port}`).join();
    execFileSync(elector, ['init', '--members', members, '--cluster', 'shop', '--out', join(scratch, 'c')], { stdio: 'ignore' });
    NAMES.forEach((name, i) => this.configure(name, i + 1));
    this.run('relay', join(build, 'test/cluster-relay'), [prefix, '3', String(port)]);
    await until(() => /ready/.test(this.log('relay')), 'the relay is ready');
    await Promise.all(NAMES.map((name) => this.startAgent(name)));
  }

  conf(name) { return join(this.folder, 'c', name, 'elector.conf'); }
  socket(name) { return join(this.folder, 'c', name, 'agent.sock'); }
  origin(name) { return `http://${this.prefix}.${NAMES.indexOf(name) + 1}:${port}`; }
  log(what) { return readFileSync(join(this.folder, `${what}.log`), 'utf8'); }

  /**
   * Member i reaches member j through the relay. Leases are so long that leadership moves only where a test moves it, also on a
   * busy machine: deaths are confirmed, and no test waits for the end of a lease.
   */
  configure(name, i) {
    const { prefix } = this;
    let text = `${readFileSync(this.conf(name), 'utf8')}lease = 5s\n`;
    NAMES.forEach((_, at) => {
      const j = at + 1;
      if (j !== i) text = text.replace(`address = ${prefix}.${j}:`, `address = ${prefix}.${100 + 10 * i + j}:`);
    });
    writeFileSync(this.conf(name), text);
  }

  run(what, program, args) {
    const out = openSync(join(this.folder, `${what}.log`), 'a');
    const child = spawn(program, args, { stdio: ['pipe', out, out] });
    this.children.set(what, child);
    return child;
  }

  runs(what) {
    const child = this.children.get(what);
    return Boolean(child) && child.exitCode === null && child.signalCode === null;
  }

  async kill(what, signal = 'SIGKILL') {
    const child = this.children.get(what);
    if (!this.runs(what)) return;
    const ended = new Promise((done) => { child.once('exit', done); });
    child.kill(signal);
    await ended;
  }

  async startAgent(name) {
    this.run(name, elector, ['agent', '--config', this.conf(name)]);
    await until(() => this.get(name, '/healthz').then((answer) => answer?.ok), `agent ${name} answers`);
  }

  /** `FROM TO drop 1`; 0 is every member. */
  async order(from, to, fault, number) {
    const position = (name) => (name ? NAMES.indexOf(name) + 1 : 0);
    const before = this.log('relay').split('\n').length;
    this.children.get('relay').stdin.write(`${position(from)} ${position(to)} ${fault} ${number}\n`);
    await until(() => this.log('relay').split('\n').length > before, 'the relay obeys');
  }

  async cut(name, is) {
    await this.order(name, '', 'drop', is);
    await this.order('', name, 'drop', is);
  }

  campaign(name, group, value, priority = '0') {
    return this.run(`${name}-${group}`, elector, ['campaign', group, '--value', value, '--priority', priority, '--url', `unix:${this.socket(name)}`]);
  }

  async get(name, path) {
    try {
      const answer = await fetch(this.origin(name) + path);
      return await answer.json();
    } catch { return null; }
  }

  ask(name, ...args) {
    return spawnSync(elector, [...args, '--url', `unix:${this.socket(name)}`], { encoding: 'utf8' }).stdout;
  }

  doctor(name) {
    return spawnSync(elector, ['doctor', '--config', this.conf(name), '--output', 'json'], { encoding: 'utf8' }).stdout;
  }

  /** What the recordings of all lives of all members say. */
  replay(group, output) {
    const folders = NAMES.map((name) => join(this.folder, 'c', name));
    const files = folders.flatMap((folder) => readdirSync(folder).filter((name) => name.includes('.flight')).map((name) => join(folder, name)));
    return spawnSync(elector, ['replay', '--group', group, '--output', output, ...files], { encoding: 'utf8', maxBuffer: 1 << 26 });
  }

  async leader(name, group) {
    return (await this.get(name, `/leader/${group}`))?.leader;
  }

  /** One client that stands for many groups: the socket takes a line for each. */
  async standForMany(name, groups) {
    const connection = createConnection(this.socket(name));
    connection.on('error', () => {});
    connection.resume();
    this.children.set(`${name}-many`, { kill: () => connection.destroy(), exitCode: null, signalCode: null, once: (_, done) => done() }); // as if it were a process
    for (let i = 0; i < groups.length; i += 100) {
      const lines = groups.slice(i, i + 100).map((group) => `${JSON.stringify({ op: 'campaign', group })}\n`).join('');
      if (!connection.write(lines)) await new Promise((done) => { connection.once('drain', done); });
    }
  }

  async stop() {
    await Promise.all([...this.children.keys()].map((what) => this.kill(what)));
  }
}
