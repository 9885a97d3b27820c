export type RefusalKind =
  | 'invalid_request'
  | 'context_overflow'
  | 'authentication'
  | 'not_found'
  | 'too_large'
  | 'rate_limit'
  | 'server_error'
  | 'overloaded';

/** An answer with an error status. Each protocol formats it as its provider does. */
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

/** The prompt is too long for the model. This is not a violation: the client learns it and sends less. */
export class ContextOverflow extends Refusal {
  override readonly name = 'ContextOverflow';

  constructor(
    readonly tokens: number,
    readonly limit: number,
  ) {
    super('context_overflow', `${tokens} tokens exceed ${limit}`);
  }
}

/** The request breaks a rule of a strict provider. Recorded, because Rondo promises never to send one (I6). */
export class Violation extends Refusal {
  override readonly name = 'Violation';

  constructor(message: string, parameter?: string) {
    super('invalid_request', message, { parameter });
  }
}
