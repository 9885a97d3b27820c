import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@langchain/langgraph-sdk';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import type { McpRunOutcome } from '@rondo/contract/api';
import type { RondoClient } from '@rondo/test-deployment';
import { Followed, connect as connectA2a, follow, say } from './a2a-client';
import { FacadeDeployment, about, long } from './facade-deployment';
import { human } from './langgraph-client';

const deployment = FacadeDeployment.forSuite();
const model = 'demo/scripted';
const readers = 12;
const cuts = 20;
/** For protocols whose every connection begins anew, so that a cut can only lose or double what is open. */
const few = { readers: 10, cuts: 10 } as const;
/** Where a client cannot come back once it has ended: about 20 seconds. */
const slowTurns = [{ text: long, pace_ms: 80 }];

/** A run that writes the long text. */
interface Begun {
  /** The whole text, read by one client whose connections are cut so often. */
  read(): Promise<string>;
}

/** What follows the piece before, and the place after it. */
interface Piece {
  readonly text: string;
  readonly place: string | number;
}

/** Each connection is to the other gateway than the one before, and is cut after its first pieces; the last one is not cut. */
async function readOverCuts(
  connect: (to: RondoClient, after: string | number | undefined) => AsyncIterable<Piece>,
): Promise<string> {
  let text = '';
  let place: string | number | undefined;
  for (let cut = 0; cut <= cuts; cut += 1) {
    let pieces = 0;
    for await (const piece of connect(cut % 2 === 0 ? deployment.client : deployment.other, place)) {
      text += piece.text;
      ({ place } = piece);
      pieces += 1;
      if (cut < cuts && pieces === 2) break; // which closes the connection
    }
  }
  return text;
}

const turns = [{ text: long, pace_ms: 20 }];

async function beginResponse(): Promise<Begun> {
  const connect = ({ url, key }: RondoClient) => new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: key });
  const { id } = await connect(deployment.client).responses.create({
    model,
    input: about('cuts of responses', turns),
    background: true,
  });
  const read = () =>
    readOverCuts(async function* (to, after = 0) {
      const stream = await connect(to).responses.retrieve(id, { stream: true, starting_after: Number(after) });
      for await (const event of stream)
        if (event.type === 'response.output_text.delta') yield { text: event.delta, place: event.sequence_number };
    });
  return { read };
}

async function beginGraphRun(): Promise<Begun> {
  const connect = ({ url, key }: RondoClient) => new Client({ apiUrl: `${url}/langgraph`, apiKey: key });
  const { thread_id: thread } = await connect(deployment.client).threads.create();
  const { run_id: run } = await connect(deployment.client).runs.create(thread, model, {
    input: human('cuts of runs', turns),
  });
  const read = () =>
    readOverCuts(async function* (to, after = '-1') {
      const options = { lastEventId: String(after), streamMode: ['messages-tuple' as const] };
      for await (const { event, data, id } of connect(to).runs.joinStream(thread, run, options)) {
        if (event !== ('messages' as string)) continue;
        const [{ type, content }] = data as unknown as [{ type: string; content: string }];
        if (type === 'AIMessageChunk' && content !== '') yield { text: content, place: String(id) };
      }
    });
  return { read };
}

/** Ends with an error after so many bytes, as a connection does that is cut. */
function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  const cutting = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.error(new TypeError('terminated'));
    },
  });
  return body.pipeThrough(cutting);
}

async function beginThread(): Promise<Begun> {
  const { url, key } = deployment.client;
  const client = new Client({ apiUrl: `${url}/langgraph`, apiKey: key });
  const first = client.threads.stream(randomUUID(), { assistantId: model });
  await first.run.start({ input: human('cuts of threads', turns) });
  await first.close();
  const read = async () => {
    let connections = 0;
    const cutting: typeof fetch = async (input, init) => {
      if (typeof input !== 'string') throw new Error('the client asks for a text');
      const to = connections % 2 === 0 ? url : deployment.other.url;
      const response = await fetch(input.replace(url, to), init);
      connections += 1;
      if (connections > cuts || !response.body) return response;
      return new Response(cutAfter(response.body, 3_000 * connections), response); // each reads from the beginning
    };
    const options = { assistantId: model, fetch: cutting, reconnectDelayMs: () => 1 };
    const stream = client.threads.stream(first.threadId, options);
    for await (const message of stream.messages) {
      const text = await message.text;
      await stream.close();
      return text;
    }
    return '';
  };
  return { read };
}

async function beginSession(): Promise<Begun> {
  const connect = ({ url, key }: RondoClient) => new Anthropic({ baseURL: `${url}/anthropic`, apiKey: key });
  const { agents, environments, sessions } = connect(deployment.client).beta;
  const agent = await agents.create({ name: 'Writer', model });
  const environment = await environments.create({ name: 'usual' });
  const { id } = await sessions.create({ agent: agent.id, environment_id: environment.id });
  const content = [{ type: 'text' as const, text: about('cuts of sessions', turns) }];
  await sessions.events.send(id, { events: [{ type: 'user.message', content }] });
  const read = async () => {
    const seen = new Map<string, string>();
    for (let cut = 0; cut <= cuts; cut += 1) {
      const { events } = connect(cut % 2 === 0 ? deployment.client : deployment.other).beta.sessions;
      const stream = await events.stream(id, { event_deltas: ['agent.message'] });
      const kept: Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent[] = [];
      for await (const event of events.list(id, { limit: 100 })) kept.push(event); // what was before the stream
      let [shown, pieces] = ['', 0];
      const isOver = kept.some(({ type }) => type === 'session.status_idle');
      for await (const event of isOver ? [] : stream) {
        if (event.type === 'event_delta' && 'content' in event.delta) {
          shown += (event.delta.content as { text?: string }).text ?? '';
          pieces += 1;
        } else if (event.type !== 'event_start') kept.push(event as (typeof kept)[number]);
        if (event.type === 'session.status_idle' || (cut < cuts && pieces === 2)) break;
      }
      stream.controller.abort();
      expect(long.startsWith(shown)).toBe(true);
      for (const event of kept)
        if (event.type === 'agent.message')
          seen.set(event.id, event.content.map((block) => ('text' in block ? block.text : '')).join(''));
    }
    return [...seen.values()].join('');
  };
  return { read };
}

/** The text of the last of these connections, each to the other gateway than the one before. Those before it are cut. */
async function readAgain(connect: (to: RondoClient, isCut: boolean) => Promise<string>): Promise<string> {
  for (let cut = 0; cut < few.cuts; cut += 1) {
    const text = await connect(cut % 2 === 0 ? deployment.client : deployment.other, true);
    expect(text).not.toBe('');
    expect(long.startsWith(text)).toBe(true);
  }
  return connect(deployment.client, false);
}

async function beginAgUiRun(): Promise<Begun> {
  const [threadId, runId] = [randomUUID(), randomUUID()];
  const connect = async ({ url, key }: RondoClient, isCut: boolean, input?: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    const agent = new HttpAgent({ url: `${url}/ag-ui/${encodeURIComponent(model)}`, headers, threadId });
    if (input !== undefined) agent.addMessage({ id: randomUUID(), role: 'user', content: input });
    let [shown, pieces] = ['', 0];
    await agent.runAgent(
      { runId },
      {
        onTextMessageContentEvent: ({ event }) => {
          shown += event.delta;
          pieces += 1;
          if (isCut && pieces === 2) agent.abortRun();
        },
      },
    );
    return shown;
  };
  await connect(deployment.client, true, about('cuts of AG-UI', turns));
  return { read: () => readAgain(connect) };
}

async function beginTask(): Promise<Begun> {
  const begun = new Followed();
  const request = say(about('cuts of A2A', slowTurns));
  for await (const event of (await connectA2a(deployment.client)).sendMessageStream(request)) {
    begun.take(event);
    break;
  }
  const read = () =>
    readAgain(async (to, isCut) => {
      const followed = new Followed();
      let pieces = 0;
      for await (const event of follow(await connectA2a(to), begun.id)) {
        followed.take(event);
        if (event.payload?.$case === 'artifactUpdate') pieces += 1;
        if (isCut && pieces === 2) break;
      }
      return followed.text;
    });
  return { read };
}

async function beginChat(): Promise<Begun> {
  const chatId = randomUUID();
  const connect = ({ url, key }: RondoClient) =>
    new DefaultChatTransport<UIMessage>({
      api: `${url}/ai-sdk/chat`,
      headers: { Authorization: `Bearer ${key}` },
      body: { model },
    });
  const parts = [{ type: 'text' as const, text: about('cuts of chats', slowTurns) }];
  const messages = [{ id: randomUUID(), role: 'user' as const, parts }];
  const given = { chatId, messages, trigger: 'submit-message' as const, messageId: undefined, abortSignal: undefined };
  await (await connect(deployment.client).sendMessages(given)).cancel();
  const read = () =>
    readAgain(async (to, isCut) => {
      const stream = await connect(to).reconnectToStream({ chatId });
      if (!stream) throw new Error('the run was over before the client came back');
      let [shown, pieces] = ['', 0];
      for await (const chunk of stream) {
        if (chunk.type !== 'text-delta') continue;
        shown += chunk.delta;
        pieces += 1;
        if (isCut && pieces === 2) break; // which closes the connection
      }
      return shown;
    });
  return { read };
}

/** Its client comes back by itself, and reads the rest of the answer to its call. */
async function beginMcpCall(): Promise<Begun> {
  const { id } = await deployment.client.createRun({ input: about('cuts of calls', turns), model });
  const read = async () => {
    const { url, key } = deployment.client;
    let connections = 0;
    const cutting = async (target: string | URL, init?: RequestInit) => {
      const isAnswer =
        new Headers(init?.headers).has('last-event-id') ||
        (typeof init?.body === 'string' && init.body.includes('get_run'));
      const to = isAnswer && connections % 2 === 1 ? `${deployment.other.url}/mcp` : target;
      const response = await fetch(to, init);
      if (!isAnswer || !response.body || (connections += 1) > few.cuts) return response;
      return new Response(cutAfter(response.body, 1_000), response); // the first event is shorter
    };
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
      reconnectionOptions: {
        ...{ initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1 },
        maxRetries: 2 * few.cuts,
      },
      fetch: cutting,
    });
    const client = new McpClient({ name: 'test', version: '1' });
    await client.connect(transport);
    const seen: number[] = [];
    const call = { name: 'get_run', arguments: { run_id: id, wait_s: 60 } };
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
    const { structuredContent } = await client.callTool(call, CallToolResultSchema, { onprogress });
    await client.close();
    expect(connections).toBeGreaterThan(few.cuts);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    return (structuredContent as McpRunOutcome).text;
  };
  return { read };
}

describe('streams of façades that are cut again and again', () => {
  it.each<[string, number, () => Promise<Begun>]>([
    ['responses of OpenAI', readers, beginResponse],
    ['runs of LangGraph', readers, beginGraphRun],
    ['threads of LangGraph', readers, beginThread],
    ['sessions of Claude Managed Agents', readers, beginSession],
    ['runs of AG-UI', few.readers, beginAgUiRun],
    ['tasks of A2A', few.readers, beginTask],
    ['chats of the AI SDK', few.readers, beginChat],
    ['calls of MCP', few.readers, beginMcpCall],
  ])('have the whole text once: %s', async (_, count, begin) => {
    const begun = await begin();
    const texts = await Promise.all(Array.from({ length: count }, () => begun.read()));
    expect(texts.filter((text) => text !== long).map((text) => text.length)).toEqual([]);
  });
});
