import { setTimeout as sleep } from 'node:timers/promises';
import type { RunError } from '@rondo/contract';
import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';
import type { ProviderError } from './provider-error';
import type { AttemptEnding, ReplyAttempt } from './reply-attempt';

export interface RetryPolicy {
  /** In all, the first one included. */
  readonly attempts: number;
  /** Waited after the first attempt that met a rate limit without a time of its own, doubled after each further one. */
  readonly rateLimitDelayMs: number;
  /** The same for every other transient failure. */
  readonly delayMs: number;
  /** A provider that asks for more patience than this is not asked again. */
  readonly maxDelayMs: number;
}

export const defaultRetries: RetryPolicy = {
  attempts: 3,
  rateLimitDelayMs: 30_000,
  delayMs: 100,
  maxDelayMs: 300_000,
};

interface Setting {
  readonly begin: (request: ModelRequest, signal: AbortSignal) => ReplyAttempt;
  readonly policy: RetryPolicy;
  /** Takes out of a provider's words what nobody else may read. */
  readonly redact: (text: string) => string;
}

/**
 * Asks again where that may help, but only before the first output: what was shown is never said twice (R4). A reply
 * that breaks off later ends as `broken`, and whoever asked decides what becomes of it. An attempt that said nothing
 * costs nothing, so only the last one's usage counts.
 */
export class RetryingModel implements Model {
  constructor(private readonly setting: Setting) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[], void> {
    let said = false;
    for (let attempts = 1; ; attempts++) {
      const attempt = this.setting.begin(request, signal);
      try {
        let chunks = await attempt.heard();
        for (; !attempt.ending; chunks = await attempt.heard()) {
          said = true;
          yield chunks;
        }
        said ||= chunks.length > 0;
        const { ending } = attempt;
        const delayMs = ending.how === 'error' && !said ? this.delayAfter(attempts, ending.error) : undefined;
        if (ending.how !== 'error' || delayMs === undefined) {
          yield [...chunks, this.end(ending, { said, attempts })];
          return;
        }
        yield [{ type: 'retried', attempt: attempts, delayMs, error: this.toRunError(ending.error) }];
        await sleep(delayMs, undefined, { signal }).catch(() => undefined); // the next attempt sees that it was aborted
      } finally {
        attempt.close();
      }
    }
  }

  private end(ending: AttemptEnding, { said, attempts }: { said: boolean; attempts: number }): ModelChunk {
    const billed = ending.usage && { usage: ending.usage };
    switch (ending.how) {
      case 'finished':
        return { type: 'end', how: 'finished', finishReason: ending.finishReason, ...billed };
      case 'aborted':
        return { type: 'end', how: 'aborted', ...billed };
      case 'error': {
        const how = said && ending.error.transient ? 'broken' : 'failed';
        const { code, message } = this.toRunError(ending.error);
        const tried = attempts > 1 ? ` (after ${attempts} attempts)` : '';
        return { type: 'end', how, error: { code, message: message + tried }, ...billed };
      }
    }
  }

  /** Undefined where asking again is no use. The jitter keeps many refused runs from coming back at once. */
  private delayAfter(attempts: number, error: ProviderError): number | undefined {
    const { policy } = this.setting;
    if (!error.transient || attempts >= policy.attempts) return undefined;
    const base = error.code === 'rate_limit' ? policy.rateLimitDelayMs : policy.delayMs;
    const jitter = 0.8 + Math.random() * 0.4;
    const delayMs = error.retryAfterMs ?? base * 2 ** (attempts - 1) * jitter;
    return delayMs <= policy.maxDelayMs ? Math.round(delayMs) : undefined;
  }

  private toRunError({ code, message }: ProviderError): RunError {
    return { code, message: this.setting.redact(message) };
  }
}
