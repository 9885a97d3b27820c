import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { chatEvents, wholeChat } from './chat-reply';
import type { ChatMessage, ChatRequest } from './chat-rules';
import { answerExamination, findDocuments, refuseDocuments } from './document-rules';
import { type MessagesRequest, messageEvents, textEvents, wholeMessage } from './messages';
import { type StrictProvider, strictProviders, wrapRefusal } from './providers';
import { type ResponsesRequest, answerEvents, responseEvents } from './responses';
import { type Task, examination, newestStep, readTask, stepNumber } from './task';

/** Of a request without its system prompt and tools: what a task of 50 steps exceeds. */
const contextCharacters = 40_000;

export interface ProviderRefusal {
  readonly task: string;
  readonly reason: string;
}

/** A request of any of the protocols: each reads the fields of its own. */
type AnyRequest = ChatRequest & MessagesRequest & ResponsesRequest;

/** What the accepted requests of a task had in them. */
class ObservedRequests {
  /** The fields, blocks or items in which the model got its own thoughts back. */
  readonly thoughts = new Set<string>();
  /** How much thinking was asked for, in the provider's own parameter. */
  readonly efforts = new Set<string>();
  image = false;

  /** Requests without tools ask for a summary, which needs neither thoughts nor an effort. */
  add(request: AnyRequest, task: Task): void {
    if ((request.tools ?? []).length === 0) return;
    const effort = findEffort(request);
    if (effort !== undefined) this.efforts.add(effort);
    const given = toItems(request);
    const shown = JSON.stringify(given);
    this.image ||= /data:image\/png;base64,|"media_type":"image\/png"/.test(shown);
    for (const item of given)
      for (const [place, content] of toParts(item)) if (holdsThought(content, task)) this.thoughts.add(place);
  }
}

function findEffort({ reasoning_effort, reasoning, thinking }: AnyRequest): string | undefined {
  if (typeof reasoning_effort === 'string') return reasoning_effort;
  if (reasoning?.effort) return reasoning.effort;
  return thinking?.type === 'enabled' ? `${thinking.budget_tokens} tokens` : undefined;
}

/** The messages of a conversation, or its items. */
const toItems = ({ messages, input }: Partial<AnyRequest>): readonly unknown[] => messages ?? [input ?? []].flat();

/** What the model itself said, by the names that its protocol has for the parts. */
function toParts(item: unknown): (readonly [string, unknown])[] {
  const { role, type, content, ...fields } = item as ChatMessage & { type?: string }; // of whatever protocol
  if (type === 'reasoning') return [['reasoning items', fields]];
  if (role !== 'assistant') return [];
  const blocks = Array.isArray(content) ? content.map((block) => [`${block.type} blocks`, block] as const) : [];
  return [...blocks, ...Object.entries({ ...fields, ...(blocks.length === 0 && { content }) })];
}

/** A thought is told by its words or by its signature. */
function holdsThought(content: unknown, task: Task): boolean {
  const text = JSON.stringify(content ?? '');
  if (text.includes('Thought ')) return true;
  const { signature } = stepNumber(task, newestStep(task, text) || 1);
  return text.includes(signature);
}

/** Where the replies to a task wait until a test lets them go on. */
class Gate {
  private readonly events = new EventEmitter();
  readonly reached = once(this.events, 'reached');
  private readonly opened = once(this.events, 'opened');

  async pass(): Promise<void> {
    this.events.emit('reached');
    await this.opened;
  }

  open(): void {
    this.events.emit('opened');
  }
}

/** At which step of a task its requests wait for their reply, and in which one a reply stops after its first words. */
interface Gates {
  readonly half: Gate;
  readonly answer: Gate;
}

/** Plays all providers, each below a path of its name, over real HTTP. */
export class StrictServer {
  readonly refusals: ProviderRefusal[] = [];
  /** How often each task was too long. */
  readonly overflows = new Map<string, number>();

  /** The forms in which the provider of each task was shown documents. */
  readonly documents = new Map<string, readonly string[]>();

  /** What the accepted requests of each task had in them. */
  readonly observed = new Map<string, ObservedRequests>();

  private readonly gates = new Map<string, Gates>();

  private constructor(private readonly http: Server) {}

  static async open(): Promise<StrictServer> {
    const http = createServer((request, response) => void server.serve(request, response));
    const server = new StrictServer(http);
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return server;
  }

  async close(): Promise<void> {
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, 'close');
  }

  /** The value of MODEL_PROVIDERS: no more than what a user of the provider would write. */
  get modelProviders(): string {
    const { port } = this.http.address() as AddressInfo; // it listens on TCP
    return JSON.stringify(
      strictProviders.map(({ name, protocol, model, settings, path }) => ({
        name,
        kind: protocol === 'messages' ? 'anthropic' : 'openai',
        models: [{ id: model, context_window: 128_000, max_output_tokens: 8_000 }],
        ...settings,
        base_url: `http://127.0.0.1:${port}/${name}${path ?? (protocol === 'messages' ? '' : '/v1')}`,
      })),
    );
  }

  /** The requests of a task will wait at its gates: before its middle step, and within its answer. */
  addGates({ id }: Task): Gates {
    const gates = { half: new Gate(), answer: new Gate() };
    this.gates.set(id, gates);
    return gates;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const provider = strictProviders.find(({ name }) => request.url?.startsWith(`/${name}/`));
    const task = readTask(body) ?? examination;
    if (!provider) return send(response, 404, { error: { message: `Nothing is at ${request.url}.` } });
    const asked = readRequest(body, request.url ?? '');
    const forms = findDocuments(body).map(({ type }) => type);
    this.documents.set(task.id, [...new Set([...(this.documents.get(task.id) ?? []), ...forms])]);
    const reason = refuseDocuments(provider.documents, body, task) ?? refusalBy(provider, asked, task);
    if (reason !== undefined) {
      this.refusals.push({ task: task.id, reason: `${reason} (after step ${newestStep(task, body)})` });
      return send(response, 400, wrapRefusal(provider, reason));
    }
    if (contextLength(asked) > contextCharacters) {
      this.overflows.set(task.id, (this.overflows.get(task.id) ?? 0) + 1);
      return send(response, provider.tooLong.status, provider.tooLong.body);
    }
    const observed = this.observed.get(task.id) ?? new ObservedRequests();
    this.observed.set(task.id, observed);
    observed.add(asked, task);
    return this.reply(provider, { asked, body, task }, response);
  }

  private async reply(
    provider: StrictProvider,
    { asked, body, task }: { asked: AnyRequest; body: string; task: Task },
    response: ServerResponse,
  ): Promise<void> {
    const done = newestStep(task, body);
    if (task === examination && !isInLoop(body)) {
      return stream(response, provider, textReply(provider, answerExamination(body)));
    }
    if ((asked.tools ?? []).length === 0) {
      const summary = `The steps up to ${task.id}-${done} of [task ${task.id} of ${task.steps} steps] are done.`;
      return asked.stream
        ? stream(response, provider, textReply(provider, summary))
        : send(response, 200, wholeReply(provider, summary));
    }
    const gates = this.gates.get(task.id);
    if (done === task.steps / 2) await gates?.half.pass();
    const events = stepReply(provider, task, done + 1);
    if (gates === undefined || done < task.steps) return stream(response, provider, events);
    const first = events.indexOf('\n\n', events.indexOf(stepNumber(task, done + 1).text.slice(0, 3))) + 2;
    begin(response, provider).write(toWire(provider, events.slice(0, first)));
    await gates.answer.pass();
    response.end(toWire(provider, events.slice(first)));
  }
}

/** Whether a request of an examination asks for calls. */
const isInLoop = (body: string): boolean => body.includes('Look up the words');

/** The clouds have the model, and whether to stream, in the path of a request. The rules find what is wrong with it. */
function readRequest(body: string, path: string): AnyRequest {
  const asked = JSON.parse(body) as AnyRequest;
  const [, model, verb] = /\/models?\/(.+?)(?:\/|:)((?:invoke|stream|raw)[\w-]*)/.exec(path) ?? [];
  if (model === undefined || verb === undefined) return asked;
  return { ...asked, model: decodeURIComponent(model), stream: /stream/.test(verb) };
}

function refusalBy(provider: StrictProvider, asked: AnyRequest, task: Task): string | undefined {
  if (asked.model !== provider.model) return `The model ${asked.model} does not exist.`;
  for (const rule of provider.rules) {
    const reason = rule(asked, task);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** The characters of a conversation without its system prompt. */
function contextLength({
  messages,
  input,
}: {
  readonly messages?: readonly { role: string }[];
  input?: unknown;
}): number {
  return JSON.stringify(messages?.filter(({ role }) => role !== 'system') ?? input).length;
}

function stepReply(provider: StrictProvider, task: Task, number: number): string {
  const step = stepNumber(task, number);
  switch (provider.protocol) {
    case 'chat':
      return chatEvents(step, provider.habits);
    case 'messages':
      return messageEvents(step, provider);
    case 'responses':
      return responseEvents(step);
  }
}

function textReply(provider: StrictProvider, text: string): string {
  switch (provider.protocol) {
    case 'chat':
      return chatEvents({ text, thought: '', signature: '', calls: [] }, provider.habits);
    case 'messages':
      return textEvents(text);
    case 'responses':
      return answerEvents(text);
  }
}

const wholeReply = (provider: StrictProvider, text: string): object =>
  provider.protocol === 'messages' ? wholeMessage(text) : wholeChat(text);

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const toWire = ({ framing }: StrictProvider, events: string): string | Buffer =>
  framing === 'aws' ? awsFrames(events) : events;

const begin = (response: ServerResponse, { framing }: StrictProvider): ServerResponse =>
  response.writeHead(200, {
    'content-type': framing === 'aws' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
  });

function stream(response: ServerResponse, provider: StrictProvider, events: string): void {
  begin(response, provider).end(toWire(provider, events));
}

/** The data of server-sent events as frames of AWS's event stream, in which Bedrock sends what Anthropic sends as events. */
const awsFrames = (events: string): Buffer =>
  Buffer.concat(
    events
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => toFrame(JSON.stringify({ bytes: Buffer.from(line.slice(6)).toString('base64') }))),
  );

const frameHeaders = Buffer.concat(
  Object.entries({ ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' }).map(
    ([name, value]) => {
      const head = Buffer.from([name.length, ...Buffer.from(name), 7, 0, 0]); // 7: the value is a text
      head.writeUInt16BE(Buffer.byteLength(value), head.length - 2);
      return Buffer.concat([head, Buffer.from(value)]);
    },
  ),
);

/** Lengths, their checksum, headers, payload, and the checksum of it all. */
function toFrame(payload: string): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + frameHeaders.length + Buffer.byteLength(payload), 0);
  prelude.writeUInt32BE(frameHeaders.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, frameHeaders, Buffer.from(payload)]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, sum]);
}
