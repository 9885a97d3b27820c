import type { IncomingHttpHeaders } from 'node:http';
import { ProviderError } from './provider-error';

/** The longest body of a reply that is not streamed, in bytes. */
const maxBytes = 32 * 1024 * 1024;

/** A server that cannot stream, or that ignores the wish, answers with JSON. */
export const isWhole = (headers: IncomingHttpHeaders): boolean =>
  /^application\/json\b/i.test(headers['content-type'] ?? '');

/** Collects the body of a reply that is not streamed. */
export class WholeBody {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  add(bytes: Uint8Array): void {
    this.length += bytes.length;
    if (this.length > maxBytes) throw new ProviderError('api_error', 'The provider sent too long a reply.');
    this.parts.push(bytes);
  }

  get text(): string {
    return Buffer.concat(this.parts).toString('utf8');
  }
}
