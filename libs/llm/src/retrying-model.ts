import { setTimeout as sleep } from 'node:timers/promises';
import type { RunError } from '@rondo/contract';
import { type Model, type ModelChunk, type ModelRequest, maxReplyAttempts } from '@rondo/domain';
import type { ProviderError } from './provider-error';
import type { RequestPace } from './request-pace';
import type { AttemptEnding, ReplyAttempt } from './reply-attempt';

export interface RetryPolicy {
  /** The most attempts, including the first. */
  readonly attempts: number;
  /** The delay after a first rate-limited attempt whose response names no delay; doubled after each further one. */
  readonly rateLimitDelayMs: number;
  /** The same for every other transient failure. */
  readonly delayMs: number;
  /** The longest of these delays. A provider that asks for a longer one is not tried again. */
  readonly maxDelayMs: number;
  /** The same where another model can be asked instead. */
  readonly maxDelayWithFallbackMs: number;
}

export const defaultRetries: RetryPolicy = {
  attempts: 5,
  rateLimitDelayMs: 30_000,
  delayMs: 500,
  maxDelayMs: 300_000,
  maxDelayWithFallbackMs: 2_000,
};

interface AttemptsMade {
  readonly hasOutput: boolean;
  readonly attempts: number;
  readonly delayMs: number | undefined;
}

/** What follows sees that it was aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** The least pause after a reply that did not come in time. */
const afterSilenceMs = 1_000;

interface RetryingModelParts {
  readonly begin: (request: ModelRequest, signal: AbortSignal) => ReplyAttempt;
  readonly policy: RetryPolicy;
  readonly pace?: RequestPace;
  /** Removes secrets from a provider's message. */
  readonly redact: (text: string) => string;
}

/**
 * Retries transient failures, but only before the first output, so that no output is streamed twice. A reply that breaks
 * later ends as `broken` with the same pause, and the caller asks again. An attempt without output costs nothing, so only
 * the last one's usage counts.
 */
export class RetryingModel implements Model {
  constructor(private readonly parts: RetryingModelParts) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[], void> {
    if (request.delayMs !== undefined) await pause(request.delayMs, signal);
    let hasOutput = false;
    for (let attempts = 1; ; attempts++) {
      const tooSlow = yield* this.waitForTurn(request, signal);
      if (tooSlow !== undefined) {
        yield [{ type: 'end', how: 'failed', error: { code: 'rate_limit', message: tooSlow } }];
        return;
      }
      const attempt = this.parts.begin(request, signal);
      try {
        let { chunks, ending } = await attempt.nextChunks();
        for (; !ending; { chunks, ending } = await attempt.nextChunks()) {
          hasOutput = true;
          yield chunks;
        }
        hasOutput ||= chunks.length > 0;
        this.tellPace(request, ending);
        const failed = hasOutput ? (request.lostReplies ?? 0) + 1 : attempts;
        const mayFollow = failed < (hasOutput ? maxReplyAttempts : this.parts.policy.attempts);
        const delayMs =
          ending.how === 'error' && mayFollow ? this.delayAfter(failed, ending.error, request) : undefined;
        if (ending.how !== 'error' || delayMs === undefined || hasOutput) {
          yield [...chunks, this.end(ending, { hasOutput, attempts, delayMs })];
          return;
        }
        yield [...chunks, { type: 'retried', attempt: failed, delayMs, error: this.toRunError(ending.error) }];
        await pause(delayMs, signal);
      } finally {
        attempt.close();
      }
    }
  }

  /** Why the turn of the request is not waited for; undefined when it has come. */
  private async *waitForTurn(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelChunk[], string | undefined> {
    const { pace, policy } = this.parts;
    return pace && (yield* pace.enter(request, signal, policy.maxDelayWithFallbackMs));
  }

  private tellPace(request: ModelRequest, ending: AttemptEnding): void {
    this.parts.pace?.noteUsage(request, ending.usage);
    if (ending.how !== 'error' || ending.error.code !== 'rate_limit') return;
    const { retryAfterMs = 0 } = ending.error;
    // A run does not wait for so long, so each learns by its own refusal that it has to end or to ask another model.
    const isTooLong = retryAfterMs > this.parts.policy.maxDelayMs;
    this.parts.pace?.noteRefusal(isTooLong ? undefined : ending.error.retryAfterMs);
  }

  private end(ending: AttemptEnding, { hasOutput, attempts, delayMs }: AttemptsMade): ModelChunk {
    const { usage, notes = {} } = ending;
    const billed = { ...(usage && { usage }), ...(Object.keys(notes).length > 0 && { notes }) };
    switch (ending.how) {
      case 'finished':
        return { type: 'end', how: 'finished', finishReason: ending.finishReason, ...billed };
      case 'aborted':
        return { type: 'end', how: 'aborted', ...billed };
      case 'error': {
        const { code, message } = this.toRunError(ending.error);
        const tried = attempts > 1 ? ` (after ${attempts} attempts)` : '';
        const end = { type: 'end', error: { code, message: message + tried }, ...billed } as const;
        if (!hasOutput || !ending.error.transient) return { ...end, how: 'failed' };
        return { ...end, how: 'broken', ...(delayMs !== undefined && { retryAfterMs: delayMs }) };
      }
    }
  }

  /** Undefined where a retry cannot help. The jitter spreads the retries of many refused runs. */
  private delayAfter(attempts: number, error: ProviderError, { hasFallback }: ModelRequest): number | undefined {
    const { policy } = this.parts;
    if (!error.transient) return undefined;
    const base = this.computeFirstDelayMs(error);
    const jitter = 0.8 + Math.random() * 0.4;
    const delayMs = error.retryAfterMs ?? Math.min(base * 2 ** (attempts - 1) * jitter, policy.maxDelayMs);
    return delayMs <= (hasFallback ? policy.maxDelayWithFallbackMs : policy.maxDelayMs)
      ? Math.round(delayMs)
      : undefined;
  }

  /** A server that was silent until the limit of time is given a moment. */
  private computeFirstDelayMs({ code }: ProviderError): number {
    const { rateLimitDelayMs, delayMs } = this.parts.policy;
    if (code === 'rate_limit') return rateLimitDelayMs;
    return code === 'timeout' ? Math.max(delayMs, afterSilenceMs) : delayMs;
  }

  private toRunError({ code, message }: ProviderError): RunError {
    return { code, message: this.parts.redact(message) };
  }
}

/** Characters of a provider's message that are kept. */
const maxMessageLength = 500;

/** The form of API keys: servers quote the key that they refuse. */
const keyLike = /\b(?:sk|pk|gsk|xai)-[\w*-]{6,}|Bearer\s+[\w.~+/-]{6,}=*/g;

/** Makes a provider's message fit to be shown and stored: short, and without the secrets that were sent to it (I12). */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= 6);
  return (text) => {
    const plain = long.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text).replace(keyLike, '[secret]');
    return plain.length > maxMessageLength ? `${plain.slice(0, maxMessageLength)}…` : plain;
  };
}
