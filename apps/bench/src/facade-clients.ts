import { randomUUID } from 'node:crypto';
import type { RunView } from '@rondo/test-deployment';
import { nowMs } from './clock';
import { exchange, post } from './http';
import { newTag } from './measured-system';
import { type Plan, toModelName } from './model/plan';
import { tagInput } from './model/request';
import type { RondoSystem } from './rondo-system';

/** What is asked through a façade, and who is told each piece of the answer as it comes. */
export interface Question {
  readonly plan: Plan;
  readonly onText: (text: string) => void;
}

/** Begins a run through one endpoint, and resolves to the time at which it was submitted when its answer has ended. */
export type Endpoint = (question: Question) => Promise<number>;

/** A request that each run of a façade consists of. Its body has the model and the input. */
interface Shape {
  readonly path: (model: string) => string;
  readonly body: (model: string, input: string) => object;
  readonly headers?: Record<string, string>;
}

const shapes: Readonly<Record<string, Shape>> = {
  'ai-sdk': {
    path: () => '/ai-sdk/chat',
    body: (model, text) => {
      const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
      return { id: randomUUID(), trigger: 'submit-message', model, messages: [message] };
    },
  },
  responses: {
    path: () => '/openai/v1/responses',
    body: (model, input) => ({ model, input, stream: true }),
  },
  chat: {
    path: () => '/openai/v1/chat/completions',
    body: (model, content) => ({ model, stream: true, messages: [{ role: 'user', content }] }),
  },
  langgraph: {
    path: () => '/langgraph/runs/stream',
    body: (assistant_id, content) => ({
      assistant_id,
      input: { messages: [{ role: 'user', content }] },
      stream_mode: ['messages-tuple'],
    }),
  },
  'ag-ui': {
    path: (model) => `/ag-ui/${encodeURIComponent(model)}`,
    body: (_, content) => ({
      threadId: randomUUID(),
      runId: randomUUID(),
      messages: [{ id: randomUUID(), role: 'user', content }],
      ...{ tools: [], context: [], state: {}, forwardedProps: {} },
    }),
  },
  a2a: {
    path: (model) => `/a2a/${encodeURIComponent(model)}`,
    headers: { 'a2a-version': '1.0' },
    body: (_, text) => {
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
      return { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } };
    },
  },
  mcp: {
    path: () => '/mcp',
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    body: (model, input) => ({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'run_agent', arguments: { model, input }, _meta: { progressToken: 1 } },
    }),
  },
};

/** `/v1` by REST and by a socket, and the façades, each as the client of its protocol uses it. */
export function openEndpoints(rondo: RondoSystem): Readonly<Record<string, Endpoint>> {
  const { url, key } = rondo.client;
  const authorization = `Bearer ${key}`;
  const byShape = Object.entries(shapes).map(([name, { path, body, headers }]): [string, Endpoint] => [
    name,
    async ({ plan, onText }) => {
      const model = toModel(plan);
      const posted = { headers: { authorization, ...headers }, body: body(model, tagInput(newTag())), onText };
      const submittedMs = nowMs();
      await post(`${url}${path(model)}`, posted);
      return submittedMs;
    },
  ]);
  return {
    v1: async ({ plan, onText }) => {
      const headers = { authorization };
      const body = { model: toModel(plan), input: tagInput(newTag()) };
      const submittedMs = nowMs();
      const run = JSON.parse(await post(`${url}/v1/runs`, { headers, body })) as RunView; // the contract's own shape
      await exchange(`${url}/v1/runs/${run.id}/stream`, { method: 'GET', headers, onText });
      return submittedMs;
    },
    socket: async ({ plan, onText }) => (await rondo.runTask({ plan, onText, settings: {} })).submittedMs,
    ...Object.fromEntries(byShape),
    anthropic: openSessions(`${url}/anthropic/v1`, { authorization, 'anthropic-version': '2023-06-01' }),
  };
}

const toModel = (plan: Plan): string => `bench/${toModelName(plan)}`;

/** A session of its own for each run, whose stream is open when the message is sent, and which an idle session ends. */
function openSessions(url: string, headers: Record<string, string>): Endpoint {
  const create = async (path: string, body: object) =>
    (JSON.parse(await post(`${url}${path}`, { headers, body })) as { id: string }).id; // the protocol's own shape
  let environment: Promise<string> | undefined;
  return async ({ plan, onText }) => {
    environment ??= create('/environments', { name: 'bench' });
    const agent = await create('/agents', { name: newTag(), model: toModel(plan) });
    const session = await create('/sessions', { agent, environment_id: await environment });
    const message = { type: 'user.message', content: [{ type: 'text', text: tagInput(newTag()) }] };
    let submittedMs = NaN;
    await new Promise<void>((resolve, reject) => {
      const onHead = () => {
        submittedMs = nowMs();
        post(`${url}/sessions/${session}/events`, { headers, body: { events: [message] } }).catch(reject);
      };
      const read = (text: string) => {
        onText(text);
        return text.includes('session.status_idle');
      };
      const stream = `${url}/sessions/${session}/events/stream?event_deltas[]=agent.message`;
      exchange(stream, { method: 'GET', headers, onHead, onText: read }).then(() => resolve(), reject);
    });
    return submittedMs;
  };
}
