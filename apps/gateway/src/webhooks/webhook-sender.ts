import type { DueDelivery, ReceivingEndpoint } from '@rondo/persistence';
import {
  type CheckedDestination,
  OutboundRefusal,
  RequestNotSent,
  type SecretBox,
  type Target,
  anySignal,
  createCheckedFetch,
} from '@rondo/platform';
import { standardSignature } from '../triggers/webhook-signature';

/** What came of one attempt. `gone`: the endpoint says that it will never accept it. */
export type Attempt =
  | { readonly how: 'delivered'; readonly responseStatus: number }
  | { readonly how: 'failed' | 'gone'; readonly responseStatus: number | null; readonly error: string };

interface SenderParts {
  readonly admit: (target: Target) => Promise<CheckedDestination>;
  readonly secrets: SecretBox | undefined;
  /** For everything up to the status of the answer. */
  readonly timeoutMs: number;
}

/** A secret of an endpoint opens for nothing else. */
export const endpointSecretPurpose = (accountId: string, endpointId: string): string =>
  `webhook_endpoint:${accountId}:${endpointId}`;

/**
 * Sends a delivery once, signed by the secrets that are valid now. The status is the whole answer: the body is not read, and a
 * redirect is not followed. Never rejects.
 */
export class WebhookSender {
  private readonly fetch;

  constructor(private readonly parts: SenderParts) {
    this.fetch = createCheckedFetch({ admit: parts.admit, bodyBytes: 0 });
  }

  async send(delivery: DueDelivery, endpoint: ReceivingEndpoint, signal: AbortSignal): Promise<Attempt | 'aborted'> {
    const { timeoutMs } = this.parts;
    const enough = anySignal([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const headers = this.toHeaders(delivery, endpoint);
      const asked = this.fetch(endpoint.url, { method: 'POST', headers, body: delivery.body, signal: enough.signal });
      const response = await Promise.race([asked, readAbortion(enough.signal)]);
      await response.body?.cancel().catch(() => undefined); // its status has arrived, which is all that counts
      return toAttempt(response.status);
    } catch (error) {
      if (signal.aborted) return 'aborted';
      const late = enough.signal.aborted ? `did not answer within ${timeoutMs / 1000} s` : undefined;
      return { how: 'failed', responseStatus: null, error: `The endpoint ${late ?? toReason(error)}.` };
    } finally {
      enough.release();
    }
  }

  private toHeaders({ accountId, endpointId, eventId, body }: DueDelivery, { secrets }: ReceivingEndpoint) {
    const box = this.parts.secrets;
    if (!box) throw new UnreadableSecret();
    const now = new Date();
    const timestamp = String(Math.floor(now.getTime() / 1000));
    const signatures = secrets
      .filter(({ expires_at: expiresAt }) => expiresAt === null || new Date(expiresAt) > now)
      .map(({ sealed }) => box.open(sealed, endpointSecretPurpose(accountId, endpointId)))
      .map((secret) => standardSignature(secret, { id: eventId, timestamp, body }));
    return {
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    };
  }
}

class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret';
}

function toAttempt(status: number): Attempt {
  if (status >= 200 && status < 300) return { how: 'delivered', responseStatus: status };
  const error = `The endpoint answered with status ${status}`;
  if (status === 410) return { how: 'gone', responseStatus: status, error: `${error}: gone.` };
  const isRedirect = status >= 300 && status < 400;
  return {
    how: 'failed',
    responseStatus: status,
    error: isRedirect ? `${error}; redirects are not followed.` : `${error}.`,
  };
}

/** For the account: it names no address but what the account wrote. */
function toReason(error: unknown): string {
  if (error instanceof OutboundRefusal) return 'is not at a public address';
  if (error instanceof RequestNotSent) return `could not be reached${toCode(error.cause)}`;
  if (error instanceof Error && ['SealBroken', 'UnreadableSecret'].includes(error.name))
    return 'got nothing, because its secret cannot be opened: SECRETS_KEY is missing or was changed';
  return `broke off before it answered${toCode(error)}`;
}

const toCode = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? ` (${error.code})`
    : '';

/** Look-ups of names do not stop by a signal. */
function readAbortion(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Error('aborted'));
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}
