/** A request that waits for its turn. */
export interface PaceAsk {
  readonly provider: string;
  /** Accounts take turns. */
  readonly account: string;
  /** About how many tokens it will use, with its reply. */
  readonly tokens: number;
}

/** What a provider's configuration allows its key per minute. */
export interface PaceLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

/**
 * The pace that a provider's key allows, kept by all processes together: by the configuration, the headers of replies, and
 * refusals. A request that waits for its turn holds no connection.
 */
export interface ProviderPace {
  /**
   * Ends when the request may be sent, or at once after an abort. Where that takes more than a second, it yields how long it
   * will take, in milliseconds. Never rejects: where the others cannot be asked, nothing waits.
   */
  enter(ask: PaceAsk, signal: AbortSignal): AsyncIterable<number>;
  /** The provider has refused a request for its rate. */
  noteRefusal(provider: string, retryAfterMs: number | undefined): void;
  /** The provider says that little is left: from now on for `forMs`, one request in `intervalMs`. */
  slowDown(provider: string, advice: PaceAdvice): void;
  /** What a request has used beyond what it asked for; negative if less. */
  correct(provider: string, tokens: number): void;
}

export interface PaceAdvice {
  readonly intervalMs: number;
  readonly forMs: number;
}
