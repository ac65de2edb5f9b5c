// The connection to the agent: asks for the overview every 2 s, reads /events between, and backs off while the agent is gone.
import { ask, type Change, type Overview } from './api';

const EVERY_MS = 2000;
const CHANGES_A_SECOND = 50;
const AFTER_MANY_MS = 1000;
const BACK_OFF_MS = [1000, 2000, 4000, 8000, 15000, 30000];

export type Link = 'new' | 'live' | 'polling' | 'gone';

export interface Heard {
  overview(overview: Overview): void;
  /** The page may have missed changes: it has just connected. */
  caughtUp(): void;
  change(change: Change): void;
  /** The agent tells no more changes in this second; caughtUp() follows when the second is over. */
  many(most: number): void;
  link(link: Link): void;
}

export class Feed {
  link: Link = 'new';
  /** When the agent last answered, and when the page asks again while it does not; by Date.now(). */
  answeredAt = Date.now();
  nextAt = 0;
  private failures = 0;
  private eventFailures = 0;
  private eventsAt = 0;
  private events: EventSource | null = null;
  private timer = 0;
  private isAsking = false;
  private waiting: string[] = []; // events that came since the last frame
  private afterMany = 0;

  constructor(private readonly heard: Heard) {
    document.addEventListener('visibilitychange', () => this.onVisibility());
  }

  start(): void {
    void this.poll();
  }

  /** Asks at once. */
  retry(): void {
    this.eventsAt = 0;
    void this.poll();
  }

  /** A hidden page gives its place among the readers of /events to others. */
  private onVisibility(): void {
    if (document.hidden) this.closeEvents();
    else this.retry();
  }

  private async poll(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    clearTimeout(this.timer);
    try {
      const overview = await ask<Overview>('/overview');
      this.failures = 0;
      this.answeredAt = Date.now();
      this.set(this.events?.readyState === EventSource.OPEN ? 'live' : 'polling');
      this.openEvents();
      this.heard.overview(overview);
    } catch {
      this.failures++;
      this.closeEvents();
      this.set('gone');
    }
    this.isAsking = false;
    this.plan();
  }

  private plan(): void {
    const wait = this.failures ? BACK_OFF_MS[Math.min(this.failures, BACK_OFF_MS.length) - 1]! : EVERY_MS;
    this.nextAt = Date.now() + wait;
    clearTimeout(this.timer);
    if (!document.hidden) this.timer = window.setTimeout(() => void this.poll(), wait);
  }

  private set(link: Link): void {
    this.link = link;
    this.heard.link(link);
  }

  private openEvents(): void {
    if (this.events || document.hidden || Date.now() < this.eventsAt) return;
    const events = new EventSource(`/events?from=now&most=${CHANGES_A_SECOND}`);
    this.events = events;
    events.onopen = () => {
      this.eventFailures = 0;
      if (this.link === 'polling') this.set('live');
      this.heard.caughtUp();
    };
    events.onmessage = (event) => {
      if (this.waiting.push(event.data as string) === 1) requestAnimationFrame(() => this.tell());
    };
    events.addEventListener('many', () => this.onMany());
    events.onerror = () => {
      if (this.events !== events) return;
      this.closeEvents();
      this.eventFailures++;
      this.eventsAt = Date.now() + BACK_OFF_MS[Math.min(this.eventFailures, BACK_OFF_MS.length) - 1]!;
      if (this.link === 'live') this.set('polling');
      void this.poll(); // is it the agent, or only a place among the readers?
    };
  }

  /** Once a frame. */
  private tell(): void {
    for (const data of this.waiting.splice(0)) this.heard.change(JSON.parse(data) as Change);
  }

  /** What changes until the second is over is told to nobody, so the page asks then. */
  private onMany(): void {
    this.tell();
    this.heard.many(CHANGES_A_SECOND);
    clearTimeout(this.afterMany);
    this.afterMany = window.setTimeout(() => this.heard.caughtUp(), AFTER_MANY_MS);
  }

  private closeEvents(): void {
    this.events?.close();
    this.events = null;
  }
}
