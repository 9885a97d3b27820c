import { accountId, callId, connectionOwner, mcpServerUrl, mostScopes, oauthScope, runId } from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { tokenQueue } from '../connection/permissions';
import { answerRequests, request } from './sandbox-requests';

/** What an executor asks any gateway for one request to an MCP server, since gateways alone keep tokens and refresh them. */
export const mcpTokenQuestion = z.object({
  account_id: accountId,
  /** Null: for a server that no run uses yet. */
  run_id: runId.nullable(),
  /** The call that would wait for a person to connect the server. Null: none can. */
  call_id: callId.nullable(),
  url: mcpServerUrl,
  owner: connectionOwner,
  /** The version of the token that the server has refused. Absent: none was sent yet. */
  refused: z.number().int().exactOptional(),
  /** That the server wants for this request, and the refused token has not. */
  scopes: z.array(oauthScope).min(1).max(mostScopes).exactOptional(),
});
export type McpTokenQuestion = z.infer<typeof mcpTokenQuestion>;

export const mcpTokenAnswer = z.discriminatedUnion('how', [
  /** For this account and this server, see `mcpTokenPurpose`. */
  z.object({ how: z.literal('token'), sealed: z.string(), version: z.number().int() }),
  /** A person has to connect it: on this page, where there is a call to wait. */
  z.object({ how: z.literal('missing'), page: z.string().max(2_000).nullable() }),
  z.object({ how: z.literal('refused'), reason: z.string().max(500) }),
]);
export type McpTokenAnswer = z.infer<typeof mcpTokenAnswer>;

/** Longer than a gateway waits for an authorization server. */
const timeoutMs = 14_000;

/** Undefined where no gateway answers in time: then nothing may be sent. */
export const requestMcpToken = (
  nats: NatsLink,
  executorId: string,
  body: McpTokenQuestion,
): Promise<McpTokenAnswer | undefined> =>
  request(nats, nats.names.mcpToken(executorId), { body, answer: mcpTokenAnswer, timeoutMs });

/** A failure of `answer` is no answer. Returns a function that ends the subscription. */
export function answerMcpTokens(
  nats: NatsLink,
  answer: (question: McpTokenQuestion) => Promise<McpTokenAnswer>,
): () => void {
  return answerRequests(nats, nats.names.mcpToken('*'), { body: mcpTokenQuestion, queue: tokenQueue, work: answer });
}
