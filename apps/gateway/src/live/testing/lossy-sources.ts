import { randomUUID } from 'node:crypto';
import { type RunEvent, eventId } from '@rondo/contract';
import { InMemoryRunFeed } from '@rondo/domain/testing';
import type { RunSubscriptionsSettings } from '../run-subscriptions';
import type { RunSources } from '../run-sources';
import type { ScriptedRun } from './scripted-run';

/** The log, the feed and the holder of one scripted run, as one gateway sees them. */
export class LossySources implements RunSources {
  private readonly feed = new InMemoryRunFeed();
  holderAnswers = true;
  subscriptions = 0;
  reads = 0;
  headQuestions = 0;

  constructor(private readonly script: ScriptedRun) {}

  publish(event: RunEvent): void {
    this.feed.publish([event]);
  }

  get watched(): boolean {
    return this.feed.isWatched;
  }

  async factsAfter(_: unknown, after: number) {
    this.reads += 1;
    await tick();
    const events = this.script.log.slice(after, after + 3);
    return { events, isEnd: after + events.length >= this.script.log.length };
  }

  watch(...about: Parameters<RunSources['watch']>) {
    this.subscriptions += 1;
    return this.feed.watch(...about);
  }

  readHeads() {
    this.headQuestions += 1;
    return Promise.resolve(new Map([[this.script.runId, this.script.log.length]]));
  }

  async open(_: unknown, { after }: { readonly after: number }) {
    const { run, runId, threadId } = this.script;
    return { run, holder: { workerId: 'worker-1', threadId }, ...(await this.factsAfter(runId, after)) };
  }

  findHolder() {
    return Promise.resolve({ workerId: 'worker-1', threadId: this.script.threadId });
  }

  async openStreams() {
    const streams = this.holderAnswers ? this.script.openStreams() : [];
    await tick();
    return streams;
  }
}

export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const quickSettings: RunSubscriptionsSettings = {
  pollMs: 5,
  stallLimitMs: 1_000,
  retryMs: 1,
  feedReadyMs: 50,
  pendingEvents: 100,
  streams: { keptText: 1_000_000, rememberedStreams: 16 },
  newEventId: () => eventId.parse(`evt_${randomUUID().replaceAll('-', '')}`),
  onError: (error) => {
    throw error;
  },
};
