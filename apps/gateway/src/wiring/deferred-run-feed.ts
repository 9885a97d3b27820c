import type { RecordedFact, RunEvent, RunId } from '@rondo/contract';
import { type NatsLink, NatsRunFeed, type RunWatch } from '@rondo/messaging';

/**
 * The run feed from the first moment on, also while NATS has never been there. Facts that nobody could hear are found
 * in the log by whoever watches (I1).
 */
export class DeferredRunFeed {
  private feed: NatsRunFeed | undefined;
  private readonly arriving: Promise<NatsRunFeed>;

  constructor(private readonly link: Promise<NatsLink>) {
    this.arriving = link.then((connected) => (this.feed = new NatsRunFeed(connected)));
  }

  publish(facts: readonly RecordedFact[]): void {
    this.feed?.publish(facts);
  }

  /** Events come as they were published: to the watcher, REST and feed say the same bytes. */
  watch(runId: RunId, onEvent: (event: RunEvent, json: string) => void): RunWatch {
    let stopped = false;
    const begin = (feed: NatsRunFeed): RunWatch | undefined => (stopped ? undefined : feed.watch(runId, onEvent));
    let watch = this.feed && begin(this.feed);
    const begun = watch ? undefined : this.arriving.then((feed) => (watch = begin(feed)));
    return {
      ready: async () => {
        await begun;
        await watch?.ready();
      },
      stop: () => {
        stopped = true;
        watch?.stop();
      },
    };
  }

  async ping(): Promise<void> {
    await (await this.link).ping();
  }

  /** Does not wait for a server that never came. */
  close(): Promise<void> {
    const closed = this.link.then((link) => link.close());
    return this.feed ? closed : Promise.resolve();
  }
}
