import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import type { McpServer } from '@rondo/contract';
import { AnswerTooLong, OutboundRefusal, RequestNotSent } from '@rondo/platform';
import { SecretRefused } from '../secrets/secret-source';

/** How a server is first spoken to: it is asked which protocol it speaks, or greeted as those of 2025, or as one of 2026. */
export type Generation = 'auto' | 'legacy' | { readonly pin: string };

const newer = { pin: '2026-07-28' };
const mostKnown = 1_000;
const knownMs = 3_600_000;

/**
 * The servers that did not answer the question which protocol they speak: some of the older generation stay silent or end when
 * they get it. They are not asked again for an hour.
 */
export class KnownGenerations {
  private readonly known = new Map<string, { generation: Generation; until: number }>();

  findGeneration(server: McpServer): Generation {
    if (server.transport === 'sse') return 'legacy';
    const known = this.known.get(JSON.stringify(server));
    return known && known.until > performance.now() ? known.generation : 'auto';
  }

  learn(server: McpServer, generation: Generation): void {
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= mostKnown) this.known.delete(oldest);
    this.known.set(JSON.stringify(server), { generation, until: performance.now() + knownMs });
  }
}

const unsupportedVersion = -32_022;

/** The generation to try after a failure of this one. Undefined where another would fail, too, or must not be tried. */
export function otherGeneration(error: unknown, tried: Generation): Generation | undefined {
  if (error instanceof ProtocolError) return error.code === unsupportedVersion && tried !== newer ? newer : undefined;
  if (tried !== 'auto' || !(error instanceof SdkError)) return undefined;
  const { code, cause } = error;
  const isForbidden = [OutboundRefusal, RequestNotSent, AnswerTooLong, SecretRefused].some(
    (kind) => cause instanceof kind,
  );
  return !isForbidden && unanswered.includes(code) ? 'legacy' : undefined;
}

const unanswered: readonly SdkErrorCode[] = [
  SdkErrorCode.EraNegotiationFailed,
  SdkErrorCode.RequestTimeout,
  SdkErrorCode.ConnectionClosed,
];
