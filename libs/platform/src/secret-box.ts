import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { z } from 'zod';

const algorithm = 'aes-256-gcm';
/** `v1` was sealed with SECRETS_KEY itself, `v2` with the key that is derived from it for one use. */
const versions = { v1: 'v1', v2: 'v2' } as const;
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** What is sealed. Each has a key of its own, so that a service that opens one kind cannot open another. */
const secretUses = ['mcp', 'webhooks', 'triggers'] as const;
export type SecretUse = (typeof secretUses)[number];

const useBefore = new RegExp(`^(${secretUses.join('|')}):`);
const isKey = (text: string): boolean =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length === keyBytes;

/** One key or several, of which the first seals and all open; `mcp:…` is a derived key, which serves that use only. */
export const secretsKey = z
  .string()
  .refine((text) => text.split(',').every((entry) => isKey(entry.replace(useBefore, ''))), {
    message: 'must be 32 bytes in base64; of several, separated by commas, the first seals',
  })
  .optional()
  .meta({
    description:
      'Encrypts what users entrust to this deployment, such as the headers of their MCP servers: 32 random bytes in base64, ' +
      'of which a key for each use is derived. `openssl rand -base64 32` makes one. The executor needs no more than the ' +
      'derived key for MCP servers, `mcp:…`; [operations](operations.md#the-key-of-sealed-secrets) tells how to make and ' +
      'rotate them. Without the key that it was sealed with, a secret is unreadable.',
    example: 'n1l4bWJ1c3QgYmUgMzIgcmFuZG9tIGJ5dGVzIGhlcmU=',
    otherwise: 'no secrets are accepted',
  });

/** What was sealed was changed, belongs elsewhere, or was sealed with another key. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Encrypts secrets, so that the database and messages between services hold only what their owner can open. */
export class SecretBox {
  /** Of the use, each also where only it was given. */
  private readonly derived: readonly Buffer[];
  /** Those from which keys are derived, which sealed everything before there was a key for each use. */
  private readonly masters: readonly Buffer[];
  private readonly sealing: Buffer;

  /** `keys` is what `secretsKey` accepts. Throws if none of them serves the use. */
  constructor(keys: string, use: SecretUse) {
    const entries = keys.split(',').map((text) => readEntry(text));
    this.masters = entries.filter((entry) => entry.use === undefined).map(({ key }) => key);
    this.derived = entries.flatMap((entry) => {
      if (entry.use === undefined) return [deriveKey(entry.key, use)];
      return entry.use === use ? [entry.key] : [];
    });
    const [first] = this.derived;
    if (!first) throw new Error(`SECRETS_KEY has no key for the use ${use}.`);
    this.sealing = first;
  }

  /** `purpose` says where the secret may be used. It opens for no other. */
  seal(secret: string, purpose: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.sealing, iv).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${versions.v2}.${sealed.toString('base64')}`;
  }

  /** Throws SealBroken unless one of the keys has sealed it for this purpose. */
  open(sealed: string, purpose: string): string {
    const { version, bytes } = readSealed(sealed);
    for (const key of version === versions.v1 ? this.masters : this.derived) {
      const opened = decrypt(bytes, { key, purpose });
      if (opened !== undefined) return opened;
    }
    throw new SealBroken('A secret cannot be opened: it was sealed with another key or for another purpose.');
  }

  /** The same where it is sealed with the key that seals; else sealed anew. Throws SealBroken as `open` does. */
  renew(sealed: string, purpose: string): string {
    const { version, bytes } = readSealed(sealed);
    const isCurrent = version === versions.v2 && decrypt(bytes, { key: this.sealing, purpose }) !== undefined;
    return isCurrent ? sealed : this.seal(this.open(sealed, purpose), purpose);
  }
}

/** HKDF-SHA256, so that a derived key says nothing about the one that it comes from. */
const deriveKey = (master: Buffer, use: SecretUse): Buffer =>
  Buffer.from(hkdfSync('sha256', master, '', `rondo secrets ${use}`, keyBytes));

function readEntry(text: string): { readonly use: SecretUse | undefined; readonly key: Buffer } {
  const use = secretUses.find((one) => text.startsWith(`${one}:`));
  return { use, key: Buffer.from(text.replace(useBefore, ''), 'base64') };
}

function readSealed(sealed: string): { readonly version: string; readonly bytes: Buffer } {
  const [version = '', text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64');
  if (!Object.hasOwn(versions, version) || bytes.length < ivBytes + tagBytes)
    throw new SealBroken('This is not a sealed secret.');
  return { version, bytes };
}

/** Undefined where it was sealed with another key or for another purpose, or was changed. */
function decrypt(bytes: Buffer, { key, purpose }: { readonly key: Buffer; readonly purpose: string }) {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8');
  try {
    return text + decipher.final('utf8');
  } catch {
    return undefined; // the only error of `final` is a tag that does not fit
  }
}
