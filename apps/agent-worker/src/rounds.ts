import type { Leases } from '@rondo/domain';
import type { FairShare } from './fair-share';
import type { Heartbeat } from './heartbeat';
import type { OutboxRelay } from './outbox-relay';
import { Rhythm } from './rhythm';

export interface RoundsParts {
  readonly heartbeat: Heartbeat;
  readonly leases: Leases;
  readonly relay: OutboxRelay;
  readonly fairShare: FairShare;
  readonly everyMs: { heartbeat: number; reap: number; fairShare: number };
  readonly failed: (round: string, error: unknown) => void;
}

/** What a worker does besides running runs: keep its leases, look for runs that nobody holds, let others have a turn. */
export class Rounds {
  private readonly rhythms: readonly Rhythm[];

  constructor({ heartbeat, leases, relay, fairShare, everyMs, failed }: RoundsParts) {
    const rhythm = (round: string, interval: number, work: () => Promise<unknown>) =>
      new Rhythm({ everyMs: interval, work, failed: (error) => failed(round, error) });
    this.rhythms = [
      rhythm('heartbeat', everyMs.heartbeat, () => heartbeat.beat()),
      rhythm('reap', everyMs.reap, () => leases.reap().then(() => relay.publish())),
      rhythm('fair share', everyMs.fairShare, () => fairShare.enforce()),
    ];
  }

  start(): void {
    this.rhythms.forEach((rhythm) => rhythm.start());
  }

  async stop(): Promise<void> {
    await Promise.all(this.rhythms.map((rhythm) => rhythm.stop()));
  }
}
