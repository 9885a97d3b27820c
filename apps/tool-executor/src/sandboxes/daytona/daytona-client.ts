import { setTimeout as delay } from 'node:timers/promises';
import type { Daytona, Sandbox as Machine } from '@daytonaio/sdk' with { 'resolution-mode': 'import' };
import type { DaytonaSettings } from '../provider/daytona-settings';
import { type DaytonaFailure, toFailure, mayPass, unavailable } from './daytona-failure';

/** A sandbox at Daytona. The SDK calls it Sandbox, which here is the interface of all providers. */
export type { Machine };

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** The SDK, loaded at the first use: it is large, and other providers do without it. Its errors end here. */
export class DaytonaClient {
  private loaded: Promise<Daytona> | undefined;

  constructor(readonly settings: DaytonaSettings) {}

  /** One attempt. Rejects with SandboxError. */
  async once<Result>(work: (daytona: Daytona) => Promise<Result>): Promise<Result> {
    const tried = await this.attempt(work);
    if ('failure' in tried) throw unavailable(tried.failure);
    return tried.result;
  }

  /** Attempts until one succeeds or fails for good, or the time for all of them is over. Only for what may be done twice. */
  async persistently<Result>(work: (daytona: Daytona) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const deadline = performance.now() + this.settings.wholeRequestMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const tried = await this.attemptUntil(deadline, work);
      if ('result' in tried) return tried.result;
      const isOver = signal?.aborted || performance.now() + pauseMs > deadline;
      if (isOver || !mayPass(tried.failure)) throw unavailable(tried.failure);
      await delay(pauseMs, undefined, signal ? { signal } : {}).catch(() => undefined);
    }
  }

  /** What an attempt does after the deadline is of no interest any more. */
  private async attemptUntil<Result>(deadline: number, work: (daytona: Daytona) => Promise<Result>) {
    const decided = new AbortController();
    const { signal } = decided;
    const message = `It did not answer within ${this.settings.wholeRequestMs / 1_000} s.`;
    const late = delay(deadline - performance.now(), { failure: { status: undefined, message } }, { signal });
    try {
      return await Promise.race([this.attempt(work), late]);
    } finally {
      decided.abort();
      late.catch(() => undefined);
    }
  }

  /** For callers that tell failures apart. */
  async attempt<Result>(
    work: (daytona: Daytona) => Promise<Result>,
  ): Promise<{ result: Result } | { failure: DaytonaFailure }> {
    this.loaded ??= load(this.settings);
    try {
      return { result: await work(await this.loaded) };
    } catch (error) {
      return { failure: toFailure(error, this.settings.apiKey) };
    }
  }
}

/**
 * Passes everything explicitly: what is missing, the SDK reads from the environment and from `.env` files. With events it
 * would hold a web socket open for what a poll tells as well.
 */
async function load({ apiUrl, apiKey, target, requestTimeoutMs }: DaytonaSettings): Promise<Daytona> {
  const { Daytona } = await import('@daytonaio/sdk');
  const how = { requestTimeoutMs, useDeprecatedPolling: true, otelEnabled: false };
  return new Daytona({ apiUrl, apiKey, ...how, ...(target !== undefined && { target }) });
}
