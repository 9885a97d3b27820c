/** A request whose signature is missing, wrong, or too old. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
}

export interface WebhookOptions {
  /** One secret, or several while they are exchanged: `whsec_` and base64. */
  readonly secrets: string | readonly string[];
  /** How far the time of the signature may be from now. Default: 300. */
  readonly toleranceS?: number;
}

/**
 * The body of a request that was signed as Standard Webhooks (https://www.standardwebhooks.com) describe. Rejects with a
 * WebhookSignatureError. The comparison takes the same time whatever the signature is.
 */
export async function verifyWebhook(request: Request, { secrets, toleranceS = 300 }: WebhookOptions): Promise<string> {
  const header = (name: string) => request.headers.get(`webhook-${name}`) ?? '';
  const body = await request.text();
  const [id, timestamp] = [header('id'), header('timestamp')];
  if (id === '' || !/^\d+$/.test(timestamp)) throw new WebhookSignatureError('The request is not signed.');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceS)
    throw new WebhookSignatureError('The signature is too old.');

  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signatures = header('signature')
    .split(' ')
    .filter((text) => text.startsWith('v1,'));
  for (const secret of [secrets].flat()) {
    const key = await hmacKey(secret);
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, toBytes(signature.slice(3)), signed)) return body;
    }
  }
  throw new WebhookSignatureError('The signature is not from this secret.');
}

const hmacKey = (secret: string) =>
  crypto.subtle.importKey('raw', toBytes(secret.replace(/^whsec_/, '')), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);

/** Base64. What is none has no bytes. */
function toBytes(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
