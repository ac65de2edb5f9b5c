// The simulator as a WebAssembly module: src/wasm/page.h is the other side of every call here.
import { Records, recordSize } from './records';

export interface Option { name: string; kind: string; choices: string; preset: string; help: string }

export interface Algorithm {
  name: string; summary: string; idea: string; reference: string;
  ring: boolean; beats: boolean; majority: boolean; store: boolean; countMax: number; claims: number;
  routineKinds: number; setKinds: number; transfers: boolean;
  kinds: string[]; timers: string[]; facts: string[]; notes: string[]; options: Option[];
}

export interface Setting { name: string; argument: string; help: string }
/** Claims 0: every run must keep it. */
export interface Promised { text: string; claims: number; violations: number }
export interface ViolationKind { kind: number; name: string; meaning: string }

export interface Catalogue {
  algorithms: Algorithm[]; deciders: Algorithm[]; detectors: Algorithm[]; settings: Setting[]; violations: ViolationKind[]; promises: Promised[];
}

export interface Member { id: string; attribute: string; mayLead: boolean; rate: number }
/** One link one way (from, to), or sides: the side of each member, 0 if it reaches all. */
export interface Break { from: number; to: number; text: string; sides: number[] }
/** What is sent from one to the other between begin and finish takes so much longer. */
export interface Slow { from: number; to: number; extra: number; begin: number; finish: number }
export interface Violation { kind: number; record: number; text: string; meaning: string }
export interface Expectation { text: string; holds: boolean }
export interface Claim { record: number; leader: number; end: number }

/** What a node believes from this record on; 0: from the beginning. */
export interface View { record: number; node: number; role: number; leader: number; term: number }

export interface Description {
  algorithm: string; detector: string; unit: number; inUnits: boolean; delayMax: number; claims: number;
  scripted: boolean; incumbent: number; seed: string; ended: number; events: number; messages: number;
  turnaround: number; rested: boolean; agreed: boolean; leader: number; groups: number;
  members: Member[]; breaks: Break[]; slows: Slow[]; violations: Violation[]; expectations: Expectation[];
}

/** A finished run, copied out of the module. Texts are asked for one by one, until it is closed. */
export interface RawRun {
  description: Description;
  records: Records;
  claims: Claim[];
  /** Each change of what a node believes; none for records that were made elsewhere. */
  views: View[];
  /** By agents, which hear of each other in ways that are no messages of the election; a message that nobody heard is lost. */
  recorded?: boolean;
  /** Of recorded agents, in the order of the nodes. */
  names?: string[];
  text(record: number): string;
  write(format: Format): string;
  close(): void;
}

export type Format = 'transcript' | 'svg' | 'trace' | 'mermaid' | 'shiviz';

/** The scenario's mistake, in the simulator's own words. */
export class ScenarioError extends Error {}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  page_allocate(size: number): number;
  page_release(at: number): void;
  page_catalogue(): number;
  page_open(name: number, text: number, size: number): number;
  page_open_records(name: number, text: number, size: number, records: number, count: number): number;
  page_close(run: number): void;
  page_error(run: number): number;
  page_describe(run: number): number;
  page_records(run: number): number;
  page_record_count(run: number): number;
  page_claims(run: number): number;
  page_claim_count(run: number): number;
  page_views(run: number): number;
  page_view_count(run: number): number;
  page_record_text(run: number, index: number): number;
  page_transcript(run: number): number;
  page_svg(run: number): number;
  page_trace(run: number): number;
  page_mermaid(run: number): number;
  page_shiviz(run: number): number;
}

const badDescriptor = 8; // WASI's EBADF: the module has no files

/** Every list of the module's JSON ends with a null, which is dropped here. */
function parse(json: string): unknown {
  return JSON.parse(json, (_key, value) =>
    Array.isArray(value) && value[value.length - 1] === null ? value.slice(0, -1) : value);
}

export class Engine {
  readonly catalogue: Catalogue;
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();

  private constructor(private readonly module: Exports) {
    this.catalogue = parse(this.read(module.page_catalogue())) as Catalogue;
  }

  static async load(bytes: BufferSource): Promise<Engine> {
    const refuse = () => badDescriptor;
    const { instance } = await WebAssembly.instantiate(bytes, {
      wasi_snapshot_preview1: { fd_close: refuse, fd_seek: refuse, fd_write: refuse },
    });
    const module = instance.exports as unknown as Exports;
    module._initialize();
    return new Engine(module);
  }

  /** An election; or a machine that decides, which stories have and the form does not offer. */
  algorithm(name: string): Algorithm | undefined {
    return [...this.catalogue.algorithms, ...this.catalogue.deciders].find((a) => a.name === name);
  }

  memoryBytes(): number {
    return this.module.memory.buffer.byteLength;
  }

  /** Throws a ScenarioError. */
  open(name: string, text: string): RawRun {
    return this.with([this.encoder.encode(name + '\0'), this.encoder.encode(text + '\0')], ([nameAt, textAt], sizes) =>
      this.adopt(this.module.page_open(nameAt, textAt, sizes[1] - 1)));
  }

  /** A run that was recorded elsewhere: its records, and a scenario that says algorithm, members and unit. */
  openRecords(name: string, text: string, records: Uint8Array): RawRun {
    const parts = [this.encoder.encode(name + '\0'), this.encoder.encode(text + '\0'), records];
    return this.with(parts, ([nameAt, textAt, recordsAt], sizes) =>
      this.adopt(this.module.page_open_records(nameAt, textAt, sizes[1] - 1, recordsAt, sizes[2] / recordSize)));
  }

  private adopt(run: number): RawRun {
    const module = this.module;
    if (run === 0) throw new ScenarioError('out of memory');
    const mistake = this.read(module.page_error(run));
    if (mistake !== '') {
      module.page_close(run);
      throw new ScenarioError(mistake);
    }
    const count = module.page_record_count(run);
    const from = module.page_records(run);
    const writers: Record<Format, (run: number) => number> = {
      transcript: module.page_transcript, svg: module.page_svg, trace: module.page_trace,
      mermaid: module.page_mermaid, shiviz: module.page_shiviz,
    };
    return {
      description: parse(this.read(module.page_describe(run))) as Description,
      records: new Records(module.memory.buffer.slice(from, from + count * recordSize), count),
      claims: this.readClaims(run),
      views: this.readViews(run),
      text: (record) => this.read(module.page_record_text(run, record)),
      write: (format) => this.read(writers[format](run)),
      close: () => module.page_close(run),
    };
  }

  /** struct page_claim: when it ends (8 bytes), record (4), leader (4). */
  private readClaims(run: number): Claim[] {
    const at = this.module.page_claims(run), view = new DataView(this.module.memory.buffer);
    return Array.from({ length: this.module.page_claim_count(run) }, (_, i) => ({
      end: Number(view.getBigUint64(at + 16 * i, true)),
      record: view.getUint32(at + 16 * i + 8, true),
      leader: view.getUint32(at + 16 * i + 12, true),
    }));
  }

  /** struct page_view: term (8 bytes), record, node, leader, role (4 each). */
  private readViews(run: number): View[] {
    const at = this.module.page_views(run), view = new DataView(this.module.memory.buffer);
    return Array.from({ length: this.module.page_view_count(run) }, (_, i) => ({
      term: Number(view.getBigUint64(at + 24 * i, true)),
      record: view.getUint32(at + 24 * i + 8, true),
      node: view.getUint32(at + 24 * i + 12, true),
      leader: view.getUint32(at + 24 * i + 16, true),
      role: view.getUint32(at + 24 * i + 20, true),
    }));
  }

  private read(at: number): string {
    const bytes = new Uint8Array(this.module.memory.buffer);
    return this.decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /** Copies the parts into the module for the duration of the call. */
  private with<T>(parts: Uint8Array[], call: (at: number[], sizes: number[]) => T): T {
    const at = parts.map((part) => this.module.page_allocate(part.length + 1));
    try {
      if (at.includes(0)) throw new ScenarioError('out of memory');
      parts.forEach((part, i) => new Uint8Array(this.module.memory.buffer).set(part, at[i]));
      return call(at, parts.map((part) => part.length));
    } finally {
      at.forEach((each) => this.module.page_release(each));
    }
  }
}
