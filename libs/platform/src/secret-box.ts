import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';

const algorithm = 'aes-256-gcm';
const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

/** 32 bytes as base64, which services share that seal and open secrets. */
export const secretsKey = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')
  .optional()
  .meta({
    description:
      'Encrypts what users entrust to this deployment, such as the headers of their MCP servers: 32 random bytes in base64, ' +
      'the same for gateway and tool-executor. `openssl rand -base64 32` makes one. Changing it makes what was sealed unreadable.',
    example: 'n1l4bWJ1c3QgYmUgMzIgcmFuZG9tIGJ5dGVzIGhlcmU=',
    otherwise: 'no secrets are accepted',
  });

/** What was sealed was changed, belongs elsewhere, or was sealed with another key. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Encrypts secrets, so that the database and messages between services hold only what their owner can open. */
export class SecretBox {
  private readonly key: Buffer;

  constructor(key: string) {
    this.key = Buffer.from(key, 'base64');
  }

  /** `purpose` says where the secret may be used. It opens for no other. */
  seal(secret: string, purpose: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.key, iv).setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${sealed.toString('base64')}`;
  }

  open(sealed: string, purpose: string): string {
    const [given, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64');
    if (given !== version || bytes.length < ivBytes + tagBytes) throw new SealBroken('This is not a sealed secret.');
    try {
      const decipher = createDecipheriv(algorithm, this.key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes));
      return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch (error) {
      throw new SealBroken('A secret cannot be opened: it was sealed with another key or for another purpose.', {
        cause: error,
      });
    }
  }
}
