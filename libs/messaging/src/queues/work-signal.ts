import type { NatsLink } from '../connection/nats-link';

/** A process that hears it stays awake for much longer. */
const leastPauseMs = 1_000;

/**
 * Says to every process of the deployment that there will be work: before it is written, so that no crash in between leaves
 * work to processes that rest. Core NATS: a process that misses it finds the work in Postgres seconds later.
 */
export class WorkSignal {
  private nats: NatsLink | undefined;
  private announcedAtMs = -Infinity;
  private readonly listeners = new Set<() => void>();

  constructor(link: NatsLink | Promise<NatsLink>) {
    void Promise.resolve(link).then((nats) => this.listenOn(nats));
  }

  /** False while a signal of another process may be missed. */
  get isHeard(): boolean {
    return this.nats?.connected === true;
  }

  /** Calls back at each signal, this process's own included, and when signals may have been missed. */
  onWork(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** At most once a second. Never throws: without a connection only this process hears it. */
  announce(): void {
    const now = performance.now();
    if (now - this.announcedAtMs < leastPauseMs) return;
    this.announcedAtMs = now;
    this.notify();
    if (this.nats?.connected) this.nats.connection.publish(this.nats.names.workAhead);
  }

  private listenOn(nats: NatsLink): void {
    nats.onReconnect(() => this.notify());
    nats.connection.subscribe(nats.names.workAhead, {
      callback: (error) => {
        if (error) {
          this.nats = undefined; // this process will not rest any more
          nats.log.error({ error }, 'subscription to the signal of work ended');
        } else {
          this.notify();
        }
      },
    });
    this.nats = nats;
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
