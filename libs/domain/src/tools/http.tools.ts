import type { EffectClass } from '@rondo/contract';
import { z } from 'zod';
import { type HonoursKeys, defineTool } from './define-tool';

const maxBodyCharacters = 1_000_000;

const input = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: z.url({ protocol: /^https?$/, error: 'an http or https URL' }).max(8_192),
  // Not a record: `propertyNames`, which its schema would have, is more than some providers take.
  headers: z.object({}).catchall(z.string()).optional().describe('By name, content-type and authorization included.'),
  body: z.string().max(maxBodyCharacters).optional(),
  idempotency: z
    .literal('key_honoured')
    .optional()
    .describe(
      'Say it where the server documents that it honours the Idempotency-Key header. It counts only for servers that the operator has named.',
    ),
});

/**
 * What the methods promise (RFC 9110); POST and PATCH promise nothing, unless the server tells repetitions apart. A
 * model may have read that anywhere, so its word alone does not count.
 */
function effectOfRequest({ method, url, idempotency }: z.infer<typeof input>, honoursKeys: HonoursKeys): EffectClass {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
      return 'pure';
    case 'PUT':
    case 'DELETE':
      return 'idempotent';
    case 'POST':
    case 'PATCH':
      return idempotency === 'key_honoured' && honoursKeys(url) ? 'keyed' : 'unsafe';
  }
}

export const httpRequest = defineTool({
  name: 'http_request',
  description:
    'Send one HTTP request and return status, the headers that matter and the body as text. GET and HEAD follow ' +
    'redirects. POST and PATCH carry an Idempotency-Key of their own. A status of 400 or more is an answer as well: read it.',
  input,
  powers: ['reaches_out'],
  effect: effectOfRequest,
  runsIn: 'executor',
  timeoutMs: 60_000,
  group: 'web',
  needs: 'internet',
  example: { method: 'GET', url: 'https://example.org/status.json' },
  xml: { content: 'body' },
});
