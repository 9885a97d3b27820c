import type { RecordedFact, RunEvent, RunId } from '@rondo/domain';
import { NatsRunFeed, type NatsLink } from '@rondo/messaging';

/**
 * The run feed from the first moment on, also while NATS has never been there. Facts that nobody could hear are found
 * in the log by whoever watches (I1).
 */
export class LateFeed {
  private feed: NatsRunFeed | undefined;
  private readonly arriving: Promise<NatsRunFeed>;

  constructor(private readonly link: Promise<NatsLink>) {
    this.arriving = link.then((connected) => (this.feed = new NatsRunFeed(connected)));
  }

  publish(facts: readonly RecordedFact[]): void {
    this.feed?.publish(facts);
  }

  /** Events come as they were published: to the watcher, REST and feed say the same bytes. */
  watch(
    runId: RunId,
    onEvent: (event: RunEvent, json: string) => void,
  ): { readonly ready: Promise<void>; stop(): void } {
    let stop: (() => void) | undefined;
    let stopped = false;
    const begin = (feed: NatsRunFeed): Promise<void> => {
      if (stopped) return Promise.resolve();
      const watch = feed.watch(runId, onEvent);
      stop = () => watch.stop();
      return watch.ready;
    };
    const ready = this.feed ? begin(this.feed) : this.arriving.then(begin);
    return {
      ready,
      stop: () => {
        stopped = true;
        stop?.();
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
