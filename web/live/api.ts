// What the agent tells over HTTP; docs/http.md describes it. All of it is text from outside, and is shown as text.

export interface Difference { what: string; ours?: string; theirs?: string }

export interface Member {
  name: string; id: number; role: string; address: string; heard_ms: number | null;
  reachable: boolean | null; // null: one of two without a vote, which say nothing to each other
  speaks?: string; // a version of the messages between agents that this agent does not
  silent_ms?: number; lost_record?: boolean; // a voter that grants nothing yet
  version?: string; connected?: boolean; round_trip_us?: number | null; differs?: Difference[]; hears?: string[];
}

export interface Overview {
  member: string; cluster: string; version: string; now_ms: number; started_ms: number; members: Member[];
  groups: { count: number; led: number; led_here: number; waiting: number; waiting_group?: string }; // waiting: with a candidate here, without a leader
  leader_changes: number; failovers: Histogram; dropped: Record<string, number>; writing_ms: number;
  unhealthy?: string;
  late_us?: number; stall_us?: number; // how late the agent ran in the last hour, and what would stop work
  socket?: string; config?: string; // only for clients of this host
  refused?: string; // with profile realtime: what the host refused; '' if nothing
}

export interface Histogram { bounds_us: number[]; counts: number[]; sum_us: number }

export interface Group {
  group: string; algorithm: string; leader: string | null; token: number; role: string; lease_left_ms: number | null;
  candidates: number; standing: { member: string; priority?: number }[]; value: string; promises: string;
}

export interface Groups { count: number; next: number | null; worst_failover_ms: number; groups: Group[] }

export interface Tenure {
  leader: string; token: number; at: string; age_us: number; began: string; ended: string | null; led_us: number; led_at_most?: boolean;
  nobody_us: number | null; detail?: string;
}

export interface History { group: string; member: string; since?: string; tenures: Tenure[] }

export interface Step { us: number; by: string; text: string; times?: number }

export interface Why { group: string; member: string; before: Tenure | null; after: Tenure | null; steps: Step[]; left_out: number }

export interface Change { group: string; leader: string | null; token: number; value: string }

const PATIENCE_MS = 5000;

export async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path, { signal: AbortSignal.timeout(PATIENCE_MS), cache: 'no-store', credentials: 'omit' })
    .catch(() => { throw new Error('the agent does not answer'); });
  const body: unknown = await answer.json();
  if (!answer.ok) throw new Error((body as { message?: string }).message ?? `the agent answered ${answer.status}`);
  return body as T;
}
