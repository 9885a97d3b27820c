import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedFact, ToolCall } from '@rondo/contract';
import {
  type ChildRuns,
  type ChildStart,
  type ClaimedRun,
  type StoppedChild,
  explainArguments,
  runAgentTool,
} from '@rondo/domain';
import type { ChildOrder, RunTrees } from '@rondo/persistence';

export interface TreeChildRunsParts {
  readonly trees: Pick<RunTrees, 'start' | 'stopBelow' | 'stoppedBelow'>;
  readonly settingsOf: (claim: ClaimedRun) => ChildOrder['settingsOf'];
  readonly publishFacts: (facts: readonly RecordedFact[]) => void;
  /** Publishes committed jobs to the queue. */
  readonly publishJobs: () => Promise<void>;
}

/** Holders learn of a stop with their next heartbeat at the latest. */
const longestStopMs = 10_000;
const lookEveryMs = 100;

/** The child runs of one claimed run. */
export class TreeChildRuns implements ChildRuns {
  constructor(
    private readonly claim: ClaimedRun,
    private readonly parts: TreeChildRunsParts,
  ) {}

  async start(call: ToolCall): Promise<ChildStart> {
    const input = runAgentTool.input.safeParse(call.arguments);
    if (!input.success) return { how: 'refused', reason: explainArguments(runAgentTool, input.error, call.arguments) };

    const { trees, settingsOf, publishFacts, publishJobs } = this.parts;
    const { agent, input: task } = input.data;
    const order = { parent: this.claim, call, agent, input: task, settingsOf: settingsOf(this.claim) };
    const started = await trees.start(order);
    if (started.how === 'refused') return started;
    publishFacts(started.facts);
    await publishJobs();
    return { how: 'started', child: started.child };
  }

  async stopAll(): Promise<readonly StoppedChild[]> {
    const { trees, publishFacts, publishJobs } = this.parts;
    const { accountId, runId, run } = this.claim;
    publishFacts(
      await trees.stopBelow({ accountId, runId, reason: run.stop_requested_at ? 'stopped' : 'its time is over' }),
    );
    await publishJobs();
    const until = performance.now() + longestStopMs;
    for (;;) {
      const stopped = await trees.stoppedBelow(runId);
      if (stopped.every(({ ended_at }) => ended_at !== null) || performance.now() > until) return stopped;
      await sleep(lookEveryMs);
    }
  }
}
