import type { RunEvent, RunId, ThreadId } from '@rondo/contract';
import type { RunFeed, RunWatch } from '@rondo/domain';
import { type NatsLink, NatsRunFeed } from '@rondo/messaging';

/**
 * The run feed before NATS is connected, so that the gateway starts without it. Events published meanwhile are lost to the
 * feed; subscribers find them in the log (I1).
 */
export class DeferredRunFeed implements RunFeed {
  private feed: NatsRunFeed | undefined;
  private readonly connecting: Promise<NatsRunFeed>;

  constructor(private readonly link: Promise<NatsLink>) {
    this.connecting = link.then((connected) => (this.feed = new NatsRunFeed(connected)));
  }

  publish(events: readonly RunEvent[]): void {
    this.feed?.publish(events);
  }

  /** Events are passed on as they were published, so that REST and streams send the same bytes. */
  watch(runId: RunId, onEvent: (event: RunEvent, json: string) => void): RunWatch {
    return this.whenConnected((feed) => feed.watch(runId, onEvent));
  }

  /** Calls back when a run of the thread may have begun. */
  watchThread(threadId: ThreadId, onRun: () => void): RunWatch {
    return this.whenConnected((feed) => feed.watchThread(threadId, onRun));
  }

  private whenConnected(watchOn: (feed: NatsRunFeed) => RunWatch): RunWatch {
    if (this.feed) return watchOn(this.feed);
    let isStopped = false;
    let watch: RunWatch | undefined;
    const begun = this.connecting.then((feed) => {
      if (!isStopped) watch = watchOn(feed);
    });
    return {
      ready: async () => {
        await begun;
        await watch?.ready();
      },
      stop: () => {
        isStopped = true;
        watch?.stop();
      },
    };
  }

  async ping(): Promise<void> {
    await (await this.link).ping();
  }

  /** Does not wait for a server that was never reached. */
  close(): Promise<void> {
    const closed = this.link.then((link) => link.close());
    return this.feed ? closed : Promise.resolve();
  }
}
