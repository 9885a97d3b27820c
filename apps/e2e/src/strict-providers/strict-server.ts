import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ChatRequest } from './chat-rules';
import { chatEvents, wholeChat } from './chat-reply';
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

/** Plays all providers, each below a path of its name, over real HTTP. */
export class StrictServer {
  readonly refusals: ProviderRefusal[] = [];
  /** How often each task was too long. */
  readonly overflows = new Map<string, number>();

  /** The forms in which the provider of each task was shown documents. */
  readonly documents = new Map<string, readonly string[]>();

  private readonly steps = new EventEmitter();

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
      strictProviders.map(({ name, protocol, model, settings }) => ({
        name,
        kind: protocol === 'messages' ? 'anthropic' : 'openai',
        base_url: `http://127.0.0.1:${port}/${name}${protocol === 'messages' ? '' : '/v1'}`,
        models: [{ id: model, context_window: 128_000, max_output_tokens: 8_000 }],
        ...settings,
      })),
    );
  }

  /** Resolves when a model has taken this step for the first task that comes so far. */
  async reached(step: number): Promise<void> {
    await once(this.steps, String(step));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const provider = strictProviders.find(({ name }) => request.url?.startsWith(`/${name}/`));
    const task = readTask(body) ?? examination;
    if (!provider) return send(response, 404, { error: { message: `Nothing is at ${request.url}.` } });
    const asked = JSON.parse(body) as Asked; // the rules find what is wrong with it
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
    return this.reply(provider, { asked, body, task }, response);
  }

  private reply(
    provider: StrictProvider,
    { asked, body, task }: { asked: Asked; body: string; task: Task },
    response: ServerResponse,
  ): void {
    const done = newestStep(task, body);
    if (task === examination && !isInLoop(body)) {
      stream(response, textReply(provider, answerExamination(body)));
      return;
    }
    if ((asked.tools ?? []).length === 0) {
      const summary = `The steps up to ${task.id}-${done} of [task ${task.id} of ${task.steps} steps] are done.`;
      return asked.stream
        ? stream(response, textReply(provider, summary))
        : send(response, 200, wholeReply(provider, summary));
    }
    this.steps.emit(String(done + 1));
    stream(response, stepReply(provider, task, done + 1));
  }
}

/** Whether a request of an examination asks for calls. */
const isInLoop = (body: string): boolean => body.includes('Look up the words');

/** A request of any of the protocols: each rule reads the fields of its own. */
type Asked = ChatRequest & MessagesRequest & ResponsesRequest;

function refusalBy(provider: StrictProvider, asked: Asked, task: Task): string | undefined {
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
      return chatEvents(step, number, provider.habits);
    case 'messages':
      return messageEvents(step, number, provider);
    case 'responses':
      return responseEvents(step, number);
  }
}

function textReply(provider: StrictProvider, text: string): string {
  switch (provider.protocol) {
    case 'chat':
      return chatEvents({ text, thought: '', signature: '', call: undefined }, 0, provider.habits);
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

function stream(response: ServerResponse, events: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
}
