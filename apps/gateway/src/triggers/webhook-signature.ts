import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SignatureScheme } from '@rondo/contract';

const prefix = 'whsec_';

/** As the Standard Webhooks specification writes it. Senders like GitHub take it as it is. */
export const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`;

export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
  readonly body: string | Buffer;
}

/** `v1,` and base64, as the Standard Webhooks specification writes it: of what is sent, and of what is received. */
export function standardSignature(secret: string, { id, timestamp, body }: SignedContent): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

export interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface SignatureTerms {
  readonly scheme: SignatureScheme;
  readonly secrets: readonly string[];
  readonly toleranceS: number;
  readonly now: Date;
}

/** The id of the webhook, if one of the secrets signed it and it is not too old. */
export const verifyWebhookId = (request: SignedRequest, terms: SignatureTerms): string | undefined =>
  terms.scheme === 'standard' ? standardId(request, terms) : gitHubId(request, terms);

const mostSignatures = 8;

function standardId(
  { headers, body }: SignedRequest,
  { secrets, toleranceS, now }: SignatureTerms,
): string | undefined {
  const [id, timestamp, list] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    findText(headers[name]),
  );
  if (id === undefined || timestamp === undefined || list === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) return undefined;
  const signatures = list.split(' ').slice(0, mostSignatures);
  const expected = secrets.map((secret) => standardSignature(secret, { id, timestamp, body }));
  const isFresh = Math.abs(now.getTime() / 1000 - Number(timestamp)) <= toleranceS;
  return anyEqual(signatures, expected) && isFresh ? id : undefined;
}

/** GitHub signs neither a time nor an id. The body is the id, so that a copy of a request is a repetition. */
function gitHubId({ headers, body }: SignedRequest, { secrets }: SignatureTerms): string | undefined {
  const given = findText(headers['x-hub-signature-256']);
  if (given === undefined) return undefined;
  const expected = secrets.map((secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  return anyEqual([given], expected) ? `sha256:${createHash('sha256').update(body).digest('hex')}` : undefined;
}

const findText = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

/** Compares all, each in constant time. */
function anyEqual(given: readonly string[], expected: readonly string[]): boolean {
  const pairs = given.flatMap((one) => expected.map((other) => [toDigest(one), toDigest(other)] as const));
  return pairs.map(([one, other]) => timingSafeEqual(one, other)).includes(true);
}

const toDigest = (text: string): Buffer => createHash('sha256').update(text).digest();
