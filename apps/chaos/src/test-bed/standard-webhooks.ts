import { createHmac, timingSafeEqual } from 'node:crypto';

interface SignedWebhook {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
  readonly body: string;
}

/** The header `webhook-signature` of the Standard Webhooks specification. `secret` begins with `whsec_`. */
export function toSignature(secret: string, { id, timestamp, body }: SignedWebhook): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Whether one of the signatures in the header is right. */
export function isSigned(secret: string, webhook: SignedWebhook & { readonly signature: string }): boolean {
  const expected = Buffer.from(toSignature(secret, webhook));
  return webhook.signature.split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
