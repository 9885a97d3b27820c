import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type RequestOptions, SdkError, type Tool, type Transport } from '@modelcontextprotocol/client';
import type {
  CallInput,
  McpPromptAnswer,
  McpPromptChoice,
  McpServer,
  McpTask,
  McpTool,
  RequiredInput,
} from '@rondo/contract';
import { RequestNotSent, TokenBucket, anySignal } from '@rondo/platform';
import { z } from 'zod';
import type { SecretUser } from '../secrets/secret-source';
import { InputRefused, readRequiredInput, toInputParams } from './asked-input';
import { type DescribedTools, describeTools } from './describe-tools';
import { type Generation, type KnownGenerations, otherGeneration } from './generations';
import { readWhole } from './lenient-message';
import { AnswerUnreadable, type McpAnswer, readAnswer } from './mcp-result';
import { describePrompts, readPrompt } from './prompts';
import { toResourceRequest, withResources } from './resources';
import { TaskLost, asTask, findTaskTools, pollTask, readCreatedTask, tasksExtension } from './tasks';
import type { SchemaChecker } from './schemas/schema-checker';

export interface ToolCallRequest {
  readonly tool: McpTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Of waiting for a word of the server, and of the call. */
  readonly timeoutMs: number;
  readonly mostMs: number;
  readonly progress: (text: string) => void;
  /** What people answered to the server, when it asked for it. */
  readonly input?: CallInput | undefined;
  /** What the call became in an earlier attempt: it is asked for, and nothing is called. */
  readonly task?: McpTask | undefined;
  /** Whether the end of `signal` is that of the call, and not only of this process. */
  readonly isStopped: () => boolean;
}

/** What came of a call: its result, what people are asked for first, or a task that the server goes on with. */
export type CallOutcome = McpAnswer | RequiredInput | { readonly task: McpTask };

/** Of connecting and of listing the tools, each. */
export const connectMs = 15_000;
/** What the deployment gives a command, which may install the server first; a minute if it does not say. */
export const longestConnectMs = ({ server, startMs = 60_000 }: StartedServer): number =>
  server.transport === 'stdio' ? startMs : connectMs;

/** Of asking a server which protocol it speaks: one that is silent then is greeted as the older ones. */
const longestProbeMs = 15_000;

/** `startMs`: how long it may take to connect, and to list its tools, if it is a command. */
export interface StartedServer {
  readonly server: McpServer;
  readonly startMs?: number | undefined;
}

/** So old may a list of tools be when one of them is called. */
const listKeptMs = 10_000;
const mostPages = 8;
/** Of a call whose server only wants to be asked again. */
const mostRounds = 16;
const betweenRoundsMs = 500;
/** Of telling a server that no one waits for its task any more. */
const cancelMs = 3_000;
/** Messages and lines of a server that answer nothing. All servers share this process. */
const unasked = { perSecond: 100, atOnce: 1_000 };
const identity = { name: 'rondo', version: '1' };

/** What is listed is checked one by one, so that one with a wrong form spoils no other. */
const listed = z.array(z.unknown()).max(2_000);
const anyAnswer = z.looseObject({});

function readList(of: 'tools' | 'prompts', answer: Readonly<Record<string, unknown>>): readonly unknown[] {
  const list = listed.safeParse(answer[of]);
  if (!list.success) throw new AnswerUnreadable(`its list of ${of} has not the form that the protocol demands`);
  return list.data;
}

/** Tells the client which arguments the server wants in headers, too. Results are checked here, and not by the client. */
const toDefinition = ({ tool, parameters }: McpTool): Tool => ({
  name: tool,
  inputSchema: parameters as Tool['inputSchema'], // it came as JSON
});

export interface TransportListeners {
  /** Called when an answer breaks off, for which its request would wait in vain. */
  readonly broke: (error: Error) => void;
  /** Called for each message and line of the server that answers nothing. */
  readonly unasked: () => void;
}

/** The time of a call is over. */
class TooLate extends Error {}

/** One session with a server, for one thread. */
export class McpConnection {
  /** Who makes its requests now: a session outlives the run that opened it. */
  user: SecretUser | undefined;
  private client: Client | undefined;
  /** The client knows it only once it is connected. */
  private transport: Transport | undefined;
  private readonly broken = new AbortController();
  private readonly unasked = new TokenBucket(unasked.perSecond, unasked.atOnce);
  private listed: DescribedTools | undefined;
  private listedAt = -Infinity;
  /** By the servers of 2025-11-25, which want to be asked for a task. */
  private taskTools: ReadonlySet<string> = new Set();

  constructor(
    private readonly started: StartedServer,
    private readonly parts: { schemas: Pick<SchemaChecker, 'readProblems'>; generations: KnownGenerations },
    private readonly createTransport: (heard: TransportListeners) => Transport,
  ) {}

  get isOpen(): boolean {
    return !this.broken.signal.aborted;
  }

  /** Rejects when that takes longer than it may, or when the signal is aborted; nothing of the session is left then. */
  async open(signal: AbortSignal): Promise<void> {
    try {
      this.client = await this.within(signal, (until) => this.connect(until));
    } catch (error) {
      await this.close();
      throw error;
    }
    this.hearChanges(this.client);
  }

  /** A server that cannot be asked which generation of the protocol it speaks is asked in the other one. */
  private async connect(signal: AbortSignal): Promise<Client> {
    const { server } = this.started;
    const generation = this.parts.generations.findGeneration(server);
    try {
      return await this.connectAs(generation, signal);
    } catch (error) {
      const other = otherGeneration(error, generation);
      if (other === undefined || signal.aborted) throw error;
      const client = await this.connectAs(other, signal);
      this.parts.generations.learn(server, other);
      return client;
    }
  }

  private async connectAs(generation: Generation, signal: AbortSignal): Promise<Client> {
    const timeout = longestConnectMs(this.started);
    const probe = { timeoutMs: Math.min(longestProbeMs, timeout / 4) };
    const client = new Client(identity, {
      capabilities: { elicitation: { form: {}, url: {} }, extensions: { [tasksExtension]: {} } },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: generation, probe },
    });
    // A server of the older generation waits in its session, which would end with this process: it is told that no one decided.
    client.setRequestHandler('elicitation/create', () => ({ action: 'cancel' }));
    client.onerror = () => this.countUnasked();
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.listedAt = -Infinity;
    });
    const transport = this.createTransport({
      broke: (error) => this.broke(error),
      unasked: () => this.countUnasked(),
    });
    this.transport = transport;
    try {
      await client.connect(transport, { signal, timeout });
      client.onclose = () => this.broke(new Error('The server closed the connection.'));
      return client;
    } catch (error) {
      await transport.close().catch(() => undefined); // it may never have been open
      throw error;
    }
  }

  /** Of the newer generation a server says unasked only what it was asked to. */
  private hearChanges(client: Client): void {
    const isOffered = client.getServerCapabilities()?.tools?.listChanged === true;
    if (client.getProtocolEra() !== 'modern' || !isOffered || this.started.server.transport === 'stdio') return;
    client.listen({ toolsListChanged: true }, { signal: this.broken.signal }).catch(() => undefined); // lists are asked for anew anyway
  }

  /** Not older than the time that a list may be kept. */
  async tools(signal: AbortSignal): Promise<DescribedTools> {
    if (this.listed && performance.now() - this.listedAt < listKeptMs) return this.listed;
    const { server } = this.started;
    const { tools, resources, tasks } = this.requireClient().getServerCapabilities() ?? {};
    const given = tools || !resources ? await this.within(signal, (until) => this.list('tools', until)) : [];
    this.listedAt = performance.now();
    this.taskTools = tasks?.requests?.tools?.call ? findTaskTools(given) : new Set();
    const described = await describeTools(server, given, { schemas: this.parts.schemas, signal });
    this.listed = resources ? withResources(server, described) : described;
    return this.listed;
  }

  /** Those that there are, or the one that is chosen. `clean` takes secrets out of what the server says. */
  async prompts(
    { chosen, clean }: { readonly chosen: McpPromptChoice | undefined; readonly clean: (text: string) => string },
    signal: AbortSignal,
  ): Promise<McpPromptAnswer> {
    const client = this.requireClient();
    return this.within(signal, async (until) => {
      if (chosen) {
        const options = { signal: until, timeout: longestConnectMs(this.started) };
        const answer = await client.request({ method: 'prompts/get', params: chosen }, anyAnswer, options);
        return readPrompt(readWhole(answer), clean);
      }
      const hasPrompts = client.getServerCapabilities()?.prompts !== undefined;
      return describePrompts(hasPrompts ? await this.list('prompts', until) : [], clean);
    });
  }

  /** What the server answers is not trusted, but has the form of a result, or of what it asks people for before it completes the call. */
  async call(request: ToolCallRequest): Promise<CallOutcome> {
    if (request.task) return this.followTask(request, request.task);
    let input = request.input;
    for (let round = 0; round < mostRounds; round += 1) {
      const answer = await this.callOnce({ ...request, input });
      if (!('state' in answer) || 'asked' in answer) return answer;
      input = { answers: {}, state: answer.state };
      await sleep(betweenRoundsMs, undefined, { signal: request.signal });
    }
    throw new InputRefused('it wants to be asked again and again');
  }

  private callOnce(request: ToolCallRequest): Promise<CallOutcome | ReturnType<typeof readRequiredInput>> {
    return this.inTime(request, (options) => this.send(request, options));
  }

  private async inTime<Outcome>(
    request: ToolCallRequest,
    work: (options: RequestOptions) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { signal, timeoutMs, mostMs, progress } = request;
    const late = AbortSignal.timeout(mostMs);
    const ended = anySignal([signal, this.broken.signal, late]);
    const options: RequestOptions = {
      signal: ended.signal,
      ...{ timeout: timeoutMs, resetTimeoutOnProgress: true },
      onprogress: ({ message, progress: done, total }) =>
        progress([message, total === undefined ? done : `${done}/${total}`].filter(Boolean).join(' ')),
    };
    try {
      return await work(options);
    } catch (error) {
      if (late.aborted) throw new TooLate(`It did not answer within ${mostMs / 1_000} s.`, { cause: error });
      throw this.isOpen || signal.aborted ? error : this.broken.signal.reason; // the protocol's own error hides the reason
    } finally {
      ended.release();
    }
  }

  private async send({ tool, input, ...request }: ToolCallRequest, options: RequestOptions) {
    const resource = toResourceRequest(tool.tool, request.arguments);
    const meta = { _meta: { 'idempotency-key': request.idempotencyKey }, ...(input && toInputParams(input)) };
    const call = {
      name: tool.tool,
      arguments: request.arguments,
      ...meta,
      ...(this.taskTools.has(tool.tool) && asTask),
    };
    const client = this.requireClient();
    const mayAsk = { ...options, allowInputRequired: true } as const;
    const answer =
      resource || client.getProtocolEra() !== 'modern'
        ? await client.request(
            resource
              ? { method: resource.method, params: { ...resource.params, ...meta } }
              : { method: 'tools/call', params: call },
            anyAnswer,
            mayAsk,
          )
        : await client.callTool(call, { ...mayAsk, toolDefinition: toDefinition(tool) });
    if (answer['resultType'] === 'input_required') return readRequiredInput(this.started.server.name, answer);
    const task = resource ? undefined : readCreatedTask(readWhole(answer));
    if (task !== undefined) return { task: { id: task } };
    return (resource?.readAnswer ?? readAnswer)(readWhole(answer));
  }

  /** Where the call is stopped, or takes too long, the server is told so: its task would go on for no one. */
  private async followTask(request: ToolCallRequest, { id }: McpTask): Promise<McpAnswer | RequiredInput> {
    const client = this.requireClient();
    const { input, progress, mostMs } = request;
    const ask = async (method: string, params: Readonly<Record<string, unknown>>, options: RequestOptions) =>
      readWhole(await client.request({ method, params } as never, anyAnswer, options)); // the SDK has no types of its own for tasks
    const about = {
      id,
      server: this.started.server.name,
      isModern: client.getProtocolEra() === 'modern',
      input,
      progress,
    };
    try {
      return await this.inTime(request, (options) =>
        pollTask({
          ...about,
          signal: options.signal ?? request.signal,
          send: (method, params) => ask(method, params, options),
        }),
      );
    } catch (error) {
      const isLate = error instanceof TooLate; // a timer may be early by the clock
      if (this.isOpen && (isLate || request.isStopped()))
        await ask('tasks/cancel', { taskId: id }, { timeout: cancelMs }).catch(() => undefined); // it may be over
      if (isLate)
        throw new TaskLost(`its task did not end within ${mostMs / 1_000} s, and was cancelled`, { cause: error });
      throw error;
    }
  }

  async close(): Promise<void> {
    this.broke(new Error('The connection was closed.'));
    await this.client?.close().catch(() => undefined); // it may have ended before
  }

  private requireClient(): Client {
    if (!this.client) throw new RequestNotSent('The session is not open.');
    return this.client;
  }

  private countUnasked(): void {
    if (this.unasked.take()) return;
    const { perSecond, atOnce } = unasked;
    this.broke(
      new Error(`The server sent more than ${atOnce} messages at once, or ${perSecond} a second, that answer nothing.`),
    );
  }

  private broke(error: Error): void {
    if (this.broken.signal.aborted) return;
    this.broken.abort(error);
    void this.client?.close().catch(() => undefined); // what breaks need not close properly
    void this.transport?.close().catch(() => undefined); // it may be waiting for the first answer
  }

  /** Ends where the server names no cursor, or one that it has named before. What comes twice is one. */
  private async list(of: 'tools' | 'prompts', signal: AbortSignal): Promise<unknown[]> {
    const found = new Map<string, unknown>();
    const cursors = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const options = { signal, timeout: longestConnectMs(this.started) };
      const answer = await this.requireClient().request({ method: `${of}/list`, params }, anyAnswer, options);
      const result = readWhole(answer);
      for (const one of readList(of, result)) found.set(JSON.stringify(one), one);
      const { nextCursor } = result;
      if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) break;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    return [...found.values()];
  }

  /** The protocol's own limits of time do not cover all that a transport waits for. */
  private async within<Result>(signal: AbortSignal, work: (until: AbortSignal) => Promise<Result>): Promise<Result> {
    const limitMs = longestConnectMs(this.started);
    const late = AbortSignal.timeout(limitMs);
    const until = anySignal([signal, this.broken.signal, late]);
    const reason = (): unknown => {
      if (late.aborted) return new Error(`It did not answer within ${limitMs / 1_000} s.`);
      return signal.aborted ? signal.reason : this.broken.signal.reason;
    };
    const ended = new Promise<never>((_, reject) => {
      const end = () => setImmediate(() => reject(reason())); // the work knows better why it failed
      if (until.signal.aborted) end();
      else until.signal.addEventListener('abort', end, { once: true });
    });
    ended.catch(() => undefined); // the work may end first
    try {
      return await Promise.race([work(until.signal), ended]);
    } catch (error) {
      throw until.signal.aborted && error instanceof SdkError ? reason() : error; // the protocol's own error hides the reason
    } finally {
      until.release();
    }
  }
}
