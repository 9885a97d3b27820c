import {
  type McpDiscovery,
  type McpPromptAnswer,
  accountId,
  callId,
  mcpDiscovery,
  mcpPromptAnswer,
  mcpPromptChoice,
  mcpServer,
  runId,
  sandboxTerms,
  threadId,
} from '@rondo/contract';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { answerRequests, request } from './sandbox-requests';

/** How long a server may take that is a command, which may install it first. Absent: a minute. */
const startTime = z.number().int().positive().exactOptional();

/** What a worker asks of the executor that hosts a thread when a run begins: the tools of one of its MCP servers. */
export const mcpListRequest = z.object({
  thread_id: threadId,
  run_id: runId,
  account_id: accountId,
  server: mcpServer,
  start_ms: startTime,
  /** Of a server that is a command. Executors of before know none, and prepare no workspace for such a run. */
  sandbox: sandboxTerms.exactOptional(),
  /** As what the run waits, which has not started, where a person has to connect the server first. Absent: it does not. */
  call_id: callId.exactOptional(),
});
export type McpListRequest = z.infer<typeof mcpListRequest>;

/** The executor ends its attempt before that. */
export const longestAnswerMs = ({ server, start_ms = 60_000 }: Pick<McpListRequest, 'server' | 'start_ms'>): number =>
  server.transport === 'stdio' ? start_ms + 3_000 : 18_000;

/** Undefined where no executor listens, or the answer takes too long. */
export function requestMcpList(
  nats: NatsLink,
  executorId: string,
  body: McpListRequest,
): Promise<McpDiscovery | undefined> {
  return request(nats, nats.names.mcpList(executorId), {
    body,
    answer: mcpDiscovery,
    timeoutMs: longestAnswerMs(body),
  });
}

/** `list` must not reject. Returns a function that ends the subscription. */
export function answerMcpLists(
  nats: NatsLink,
  executorId: string,
  list: (request: McpListRequest) => Promise<McpDiscovery>,
): () => void {
  return answerRequests(nats, nats.names.mcpList(executorId), { body: mcpListRequest, work: list });
}

/** What a gateway asks of any executor: the tools of a server that no run uses yet. */
export const mcpDiscoverRequest = z.object({ account_id: accountId, server: mcpServer, start_ms: startTime });
export type McpDiscoverRequest = z.infer<typeof mcpDiscoverRequest>;

/** Undefined where the executor does not listen, or the answer takes too long. */
export function requestMcpDiscovery(
  nats: NatsLink,
  executorId: string,
  body: McpDiscoverRequest,
): Promise<McpDiscovery | undefined> {
  return request(nats, nats.names.mcpDiscover(executorId), {
    body,
    answer: mcpDiscovery,
    timeoutMs: longestAnswerMs(body),
  });
}

/** Where `discover` rejects, there is no answer. Returns a function that ends the subscription. */
export function answerMcpDiscoveries(
  nats: NatsLink,
  executorId: string,
  discover: (request: McpDiscoverRequest) => Promise<McpDiscovery>,
): () => void {
  return answerRequests(nats, nats.names.mcpDiscover(executorId), { body: mcpDiscoverRequest, work: discover });
}

/** What a gateway asks of any executor: the prompts of a server, or one of them. */
export const mcpPromptRequest = mcpDiscoverRequest.extend({ prompt: mcpPromptChoice.exactOptional() });
export type McpPromptRequest = z.infer<typeof mcpPromptRequest>;

/** Undefined where the executor does not listen, or the answer takes too long. */
export function requestMcpPrompts(
  nats: NatsLink,
  executorId: string,
  body: McpPromptRequest,
): Promise<McpPromptAnswer | undefined> {
  return request(nats, nats.names.mcpPrompts(executorId), {
    body,
    answer: mcpPromptAnswer,
    timeoutMs: longestAnswerMs(body),
  });
}

/** Where `find` rejects, there is no answer. Returns a function that ends the subscription. */
export function answerMcpPrompts(
  nats: NatsLink,
  executorId: string,
  find: (request: McpPromptRequest) => Promise<McpPromptAnswer>,
): () => void {
  return answerRequests(nats, nats.names.mcpPrompts(executorId), { body: mcpPromptRequest, work: find });
}
