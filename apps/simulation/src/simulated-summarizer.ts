import type { NewFact, RunId } from '@rondo/contract';
import {
  type ClaimedRun,
  type Clock,
  type IdGenerator,
  type RunState,
  ClaimLostError,
  TransientError,
  replay,
} from '@rondo/domain';
import type { SeededRandom } from './seeded-random';
import type { StoreLink } from './store-link';
import { Life, type Timeline } from './timeline';

export interface SummarizerParts {
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  readonly linkFor: (life: Life) => StoreLink;
}

/** Claims runs whose context is to be summarized, and releases them with a summary or with a failure. */
export class SimulatedSummarizer {
  life = new Life('not started');
  private lives = 0;

  constructor(private readonly parts: SummarizerParts) {}

  start(): void {
    this.life = new Life(`summarizer.${++this.lives}`);
  }

  get hasPlace(): boolean {
    return this.life.isAwake;
  }

  take(id: RunId): void {
    void this.compact(id);
  }

  /** Sends no heartbeat, so a summary that takes longer than a lease loses its claim. */
  private async compact(id: RunId): Promise<void> {
    const { life } = this;
    const { timeline, random, linkFor } = this.parts;
    const link = linkFor(life);
    try {
      const claim = await link.claim(id, life.name);
      if (!claim) return;
      await timeline.sleep(life, random.delay(1_500));
      await link.append(claim, this.outcome(claim));
    } catch (error) {
      if (!isUsual(error)) throw error;
    }
  }

  private outcome(claim: ClaimedRun): NewFact[] {
    const state = replay(claim.log, claim.earlier);
    const { compaction, iteration } = state;
    if (!compaction) throw new Error(`${claim.runId} does not wait for a summary`);
    if (this.parts.random.chance(0.7)) return this.summary(claim, state, compaction);
    const error = { code: 'summary_failed', message: 'The model said nothing.' };
    return [{ type: 'context.compaction_failed', iteration, data: { compaction_id: compaction.id, error } }];
  }

  private summary(
    { runId, threadId }: ClaimedRun,
    { iteration, context }: RunState,
    { id, covers, tokensBefore }: NonNullable<RunState['compaction']>,
  ): NewFact[] {
    const messageId = this.parts.ids.messageId();
    const metadata = { covers, parent_summary_id: context.summary?.id ?? null, token_count: 20 };
    const message = {
      ...{ id: messageId, thread_id: threadId, run_id: runId, iteration, is_llm_message: true, metadata },
      type: 'summary' as const,
      content: [{ type: 'text' as const, text: `Summary for ${runId}.` }],
    };
    const tokens = { tokens_before: tokensBefore, tokens_after: Math.floor(tokensBefore / 2) };
    const data = { method: 'summary' as const, compaction_id: id, message_id: messageId, covers, ...tokens };
    return [
      { type: 'message.created', iteration, data: { message } },
      { type: 'context.compacted', iteration, data },
    ];
  }
}

const isUsual = (error: unknown): boolean => error instanceof TransientError || error instanceof ClaimLostError;
