import { randomUUID } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@langchain/langgraph-sdk';
import OpenAI from 'openai';
import type { RondoClient } from '@rondo/test-deployment';
import { FacadeDeployment, about, long } from './facade-deployment';
import { human } from './langgraph-client';

const deployment = FacadeDeployment.forSuite();
const model = 'demo/scripted';
const readers = 50;
const cuts = 20;

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

describe('streams of façades that are cut again and again', () => {
  it.each<[string, () => Promise<Begun>]>([
    ['responses of OpenAI', beginResponse],
    ['runs of LangGraph', beginGraphRun],
    ['threads of LangGraph', beginThread],
    ['sessions of Claude Managed Agents', beginSession],
  ])('have the whole text once: %s', async (_, begin) => {
    const begun = await begin();
    const texts = await Promise.all(Array.from({ length: readers }, () => begun.read()));
    expect(texts.filter((text) => text !== long).map((text) => text.length)).toEqual([]);
  });
});
