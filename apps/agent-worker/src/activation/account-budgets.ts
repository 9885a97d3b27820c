import type { RunId } from '@rondo/contract';
import type { Spent, SpendingPeriod } from '@rondo/persistence';

export interface AccountBudgetsParts {
  readonly usd: number | undefined;
  readonly tokens: number | undefined;
  readonly period: SpendingPeriod;
  readonly spentBy: (runId: RunId, period: SpendingPeriod) => Promise<Spent | undefined>;
  readonly nowMs: () => number;
  readonly failed: (error: unknown) => void;
}

/** For so long an answer counts. Calls that are under way in that time come on top of the budget. */
export const keptMs = 5_000;

interface Answer {
  readonly atMs: number;
  readonly isSpent: Promise<boolean>;
}

/**
 * Whether accounts have used up their budget. One question to the database for each run every five seconds, however many
 * model calls it makes, and none where no budget is set. Where the database does not answer, runs go on: they cannot
 * write what they do then, and are asked about again at their next call.
 */
export class AccountBudgets {
  private readonly answers = new Map<RunId, Answer>();

  constructor(private readonly parts: AccountBudgetsParts) {}

  /** The port of one run; undefined where nothing bounds accounts. */
  of(runId: RunId): (() => Promise<boolean>) | undefined {
    const { usd, tokens } = this.parts;
    return usd === undefined && tokens === undefined ? undefined : () => this.isSpent(runId);
  }

  /** The run is let go of. */
  forget(runId: RunId): void {
    this.answers.delete(runId);
  }

  private isSpent(runId: RunId): Promise<boolean> {
    const answer = this.answers.get(runId);
    const atMs = this.parts.nowMs();
    if (answer && atMs - answer.atMs < keptMs) return answer.isSpent;
    const isSpent = this.ask(runId);
    this.answers.set(runId, { atMs, isSpent });
    return isSpent;
  }

  private async ask(runId: RunId): Promise<boolean> {
    const { usd = Infinity, tokens = Infinity, period, spentBy, failed } = this.parts;
    try {
      const spent = await spentBy(runId, period);
      return spent !== undefined && (spent.usd >= usd || spent.tokens >= tokens);
    } catch (error) {
      failed(error);
      this.forget(runId);
      return false;
    }
  }
}
