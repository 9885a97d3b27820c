import type { IncomingHttpHeaders } from 'node:http';
import type { ModelChunk, ModelRequest, PaceAdvice, ProviderPace, ProviderSettings } from '@rondo/domain';
import { toPauseMs } from './provider-error';
import type { CallUsage } from './token-usage';

/** Accounts of requests that name none. */
const noAccount = '';
const charactersPerToken = 4;
const usualReplyTokens = 1_000;

/** The requests to one provider at the pace of its key. */
export class RequestPace {
  private readonly countsTokens: boolean;

  constructor(
    private readonly pace: ProviderPace,
    private readonly provider: ProviderSettings,
  ) {
    this.countsTokens = provider.pace?.tokensPerMinute !== undefined;
  }

  /**
   * Waits for the turn of a request, without a connection; a long wait is told. Ends early after an abort. Where another model
   * stands by, only a declared pace is waited for longer than `longestMs`: otherwise it returns why it is not.
   */
  async *enter(
    request: ModelRequest,
    signal: AbortSignal,
    longestMs: number,
  ): AsyncGenerator<readonly ModelChunk[], string | undefined> {
    const { name, pace: declared } = this.provider;
    const ask = { provider: name, account: request.account ?? noAccount, tokens: this.countTokens(request) };
    const leaving = new AbortController();
    for await (const delayMs of this.pace.enter(ask, AbortSignal.any([signal, leaving.signal]))) {
      const seconds = Math.ceil(delayMs / 1_000);
      if (request.hasFallback && !declared && delayMs > longestMs) {
        leaving.abort();
        return `The next request to ${name} may be sent in ${seconds} s.`;
      }
      const message = `Waits ${seconds} s for the pace of ${name}.`;
      yield [{ type: 'retried', attempt: 1, delayMs, pacedBy: name, error: { code: 'rate_limit', message } }];
    }
    return undefined;
  }

  noteRefusal(retryAfterMs: number | undefined): void {
    this.pace.noteRefusal(this.provider.name, retryAfterMs);
  }

  heard(headers: IncomingHttpHeaders): void {
    const advice = paceAdvice(headers);
    if (advice) this.pace.slowDown(this.provider.name, advice);
  }

  noteUsage(request: ModelRequest, usage: CallUsage | undefined): void {
    if (!usage || !this.countsTokens) return;
    this.pace.correct(this.provider.name, usage.input_tokens + usage.output_tokens - this.countTokens(request));
  }

  private countTokens({ system, messages, tools, settings }: ModelRequest): number {
    if (!this.countsTokens) return 0;
    const characters = system.length + JSON.stringify(messages).length + JSON.stringify(tools).length;
    return Math.ceil(characters / charactersPerToken) + (settings.max_tokens ?? usualReplyTokens);
  }
}

const minuteMs = 60_000;
/** The share of a limit that is left when it is time to slow down. */
const lowShare = 0.1;

/**
 * What the headers of a reply advise, in the words of OpenAI and of Anthropic: nothing while much is left. A limit that is
 * restored within a minute is one per minute; of any other only the rate at which it is restored is known. One that is restored
 * more slowly than a request in a minute is left to its refusals.
 */
export function paceAdvice(headers: IncomingHttpHeaders): PaceAdvice | undefined {
  const limit = numberIn(headers, 'x-ratelimit-limit-requests', 'anthropic-ratelimit-requests-limit');
  const left = numberIn(headers, 'x-ratelimit-remaining-requests', 'anthropic-ratelimit-requests-remaining');
  const forMs = resetMs(headers['x-ratelimit-reset-requests'] ?? headers['anthropic-ratelimit-requests-reset']);
  if (limit === undefined || left === undefined || forMs === undefined || left > limit * lowShare) return undefined;
  const restored = (limit - left) / forMs;
  const perMs = forMs <= minuteMs ? Math.max(limit / minuteMs, restored) : restored;
  const intervalMs = 1 / perMs;
  return forMs > 0 && intervalMs <= minuteMs ? { intervalMs, forMs } : undefined;
}

function numberIn(headers: IncomingHttpHeaders, ...names: readonly string[]): number | undefined {
  const value = Number(names.map((name) => headers[name]).find((one) => one !== undefined) ?? Number.NaN);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: minuteMs, h: 60 * minuteMs };

/** `6m0s`, `120ms`, seconds, or a time in any form. */
function resetMs(value: string | readonly string[] | undefined): number | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (Number(value) >= 0) return toPauseMs(Number(value));
  const parts = [...value.matchAll(/([\d.]+)(ms|s|m|h)/g)];
  if (parts.length > 0 && /^(?:[\d.]+(?:ms|s|m|h))+$/.test(value))
    return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (unitsMs[unit] ?? 0), 0);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
