// The records of a run as the simulator writes them: struct sim_record of src/sim/output/trace.h, read in place.

export const What = {
  nothing: 0, started: 1, campaigned: 2, sent: 3, delivered: 4, dropped: 5, copied: 6, returned: 7, timedOut: 8,
  suspected: 9, trusted: 10, noted: 11, viewed: 12, crashed: 13, restarted: 14, paused: 15, resumed: 16, parted: 17,
  healed: 18, saved: 19, requested: 20, told: 21, admitted: 22, refused: 23, jumped: 24, looped: 25, rested: 26,
  violated: 27,
} as const;

export const Role = { idle: 0, electing: 1, follower: 2, leader: 3 } as const;
export const roleNames = ['idle', 'electing', 'follower', 'leader'];

export const Reason = { lost: 0, cut: 1, dead: 2 } as const;

export const recordSize = 64;

/** Records are numbered from 1, as in the trace; 0 is none. Nodes are positions from 1; 0 is nobody. */
export class Records {
  private readonly view: DataView;

  constructor(bytes: ArrayBuffer, readonly count: number) {
    this.view = new DataView(bytes);
  }

  private word(i: number, offset: number): number {
    const at = (i - 1) * recordSize + offset;
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 4294967296;
  }

  time(i: number): number { return this.word(i, 0); }
  cause(i: number): number { return this.word(i, 8); }
  number(i: number): number { return this.word(i, 16); }
  node(i: number): number { return this.view.getUint32((i - 1) * recordSize + 40, true); }
  peer(i: number): number { return this.view.getUint32((i - 1) * recordSize + 44, true); }
  subject(i: number): number { return this.view.getUint32((i - 1) * recordSize + 48, true); }
  what(i: number): number { return this.view.getUint8((i - 1) * recordSize + 56); }
  kind(i: number): number { return this.view.getUint8((i - 1) * recordSize + 57); }
  role(i: number): number { return this.view.getUint8((i - 1) * recordSize + 58); }
  reason(i: number): number { return this.view.getUint8((i - 1) * recordSize + 59); }

  /** The last record at or before this time; 0 if there is none. */
  lastAt(time: number): number {
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time(middle) <= time) low = middle; else high = middle - 1;
    }
    return low;
  }
}
