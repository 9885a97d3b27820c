import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { previewLabel } from '@rondo/messaging';

/**
 * The URLs under which servers in sandboxes can be reached. Each carries a token that only this process can make, and that is
 * good for one port of one thread until the process ends, as the servers do.
 */
export class PreviewUrls {
  private readonly secret = randomBytes(32);

  /** `template` is a URL whose `*` stands for the preview. Undefined: previews are not configured. */
  constructor(private readonly template: string | undefined) {}

  /** Undefined where previews are not configured. */
  findUrl(threadId: string, port: number): string | undefined {
    const label = previewLabel({ threadId, port, token: this.toToken(threadId, port) });
    return label && this.template?.replace('*', label);
  }

  /** A site has a token of its own, since it outlives this process. */
  urlOfSite(threadId: string, token: string): string | undefined {
    const label = previewLabel({ threadId, token });
    return label && this.template?.replace('*', label);
  }

  accepts({ threadId, port, token }: { threadId: string; port: number; token: string }): boolean {
    const expected = Buffer.from(this.toToken(threadId, port));
    const given = Buffer.from(token);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  /** 100 bits in characters that host names keep. */
  private toToken(threadId: string, port: number): string {
    const digest = createHmac('sha256', this.secret).update(`${threadId} ${port}`).digest();
    return [...digest.subarray(0, 20)].map((byte) => (byte % 32).toString(32)).join('');
  }
}
