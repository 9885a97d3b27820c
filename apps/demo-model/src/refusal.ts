export type RefusalKind =
  | 'invalid_request'
  | 'context_overflow'
  | 'authentication'
  | 'not_found'
  | 'too_large'
  | 'rate_limit'
  | 'server_error'
  | 'overloaded';

/** An answer with an error status. Each protocol says it in its provider's own words. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal';

  constructor(
    readonly kind: RefusalKind,
    message: string,
    readonly details: { readonly parameter?: string | undefined; readonly retryAfterS?: number | undefined } = {},
  ) {
    super(message);
  }
}

/** The prompt does not fit into the model. No violation: a client is told so and asks with less. */
export class ContextOverflow extends Refusal {
  override readonly name = 'ContextOverflow';

  constructor(
    readonly tokens: number,
    readonly limit: number,
  ) {
    super('context_overflow', `${tokens} tokens exceed ${limit}`);
  }
}

/** The caller sent what a strict provider would not take. Counted, because Rondo promises never to do so. */
export class Violation extends Refusal {
  override readonly name = 'Violation';

  constructor(message: string, parameter?: string) {
    super('invalid_request', message, { parameter });
  }
}
