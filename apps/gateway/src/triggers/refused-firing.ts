import type { Schedule, WebhookTrigger } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { AlreadyFired, type ExecutionOutcome, type Firings, TriggerBusyError } from '@rondo/persistence';
import { problemResponse } from '../problems/problem-response';

/** Executions of one trigger that wait for an earlier run. */
const mostPending = 100;

/** The delay before each further attempt. */
const retryDelaysMs = [10_000, 60_000, 300_000];

interface Refusal {
  readonly error: unknown;
  /** With this one. */
  readonly attempts: number;
  readonly now: Date;
}

/** What becomes of firings whose run was not created. */
export class RefusedFirings {
  constructor(
    private readonly firings: Pick<Firings, 'countPending'>,
    /** Called with what should not happen. */
    private readonly onError: (error: unknown) => void,
  ) {}

  async of(trigger: Pick<Schedule | WebhookTrigger, 'id' | 'overlap'>, refusal: Refusal): Promise<ExecutionOutcome> {
    const { error } = refusal;
    if (error instanceof AlreadyFired) return { status: 'skipped', reason: 'missed', error: null, attempts: 0 };
    const { code } = problemResponse(error).body;
    if (code !== 'thread_busy' && !(error instanceof TriggerBusyError)) return this.fail(refusal);
    if (trigger.overlap !== 'queue') return { status: 'skipped', reason: 'overlap', error: null, attempts: 0 };
    const isFull = (await this.firings.countPending(trigger)) >= mostPending;
    if (isFull) return { status: 'skipped', reason: 'queue_full', error: null, attempts: 0 };
    return { status: 'pending', reason: 'overlap', error: null, attempts: 0, nextAttemptAt: refusal.now };
  }

  private fail({ error, attempts, now }: Refusal): ExecutionOutcome {
    if (!(error instanceof TerminalError)) this.onError(error);
    const { code, status, detail = '' } = problemResponse(error).body;
    const shown = { code, detail };
    const delayMs = retryDelaysMs[attempts - 1];
    const isTemporary = status === 429 || status >= 500;
    if (!isTemporary || delayMs === undefined) return { status: 'failed', reason: null, error: shown, attempts };
    const nextAttemptAt = new Date(now.getTime() + delayMs);
    return { status: 'pending', reason: 'retry', error: shown, attempts, nextAttemptAt };
  }
}
