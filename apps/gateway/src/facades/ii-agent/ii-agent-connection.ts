import type { IncomingMessage } from 'node:http';
import type { ThreadId } from '@rondo/contract';
import {
  type iiAgentAddress,
  iiAgentInit,
  iiAgentMessage,
  iiAgentQuery,
  iiAgentRefusedMessages,
} from '@rondo/contract/api';
import type { WorkSignal } from '@rondo/messaging';
import type { AuditLog, Caller } from '@rondo/persistence';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import type { RequestRate } from '../../auth/account-quota';
import type { Authenticator } from '../../auth/authenticator';
import { Holding, type MemoryBudget } from '../../auth/memory-budget';
import type { OpenConnections } from '../../auth/open-connections';
import { parseJson } from '../../http/body';
import { parseInput } from '../../http/parse-input';
import type { Ending } from '../../live/run-subscriber';
import type { ThreadEvent, ThreadSubscriptions } from '../../live/thread-subscriptions';
import { WebSocketSink } from '../../live/web-socket-sink';
import { ApiError } from '../../problems/api-error';
import { problemResponse } from '../../problems/problem-response';
import { type ChosenSettings, type IiAgentSessions, type NamedSession, toWorkspace } from './ii-agent-sessions';
import { type FramePlace, type IiAgentFrame, IiAgentTranslator, showError } from './ii-agent.translate';
import { readShown } from './shown-events';

export interface ConnectionParts {
  readonly sessions: IiAgentSessions;
  readonly threads: Pick<ThreadSubscriptions, 'subscribe'>;
  readonly connections: Pick<OpenConnections, 'add'>;
  readonly limits: { readonly memory: MemoryBudget };
  readonly authenticator: Pick<Authenticator, 'readAddress'>;
  readonly rate: Pick<RequestRate, 'consume'>;
  readonly auditLog: Pick<AuditLog, 'record'>;
  readonly workSignal: Pick<WorkSignal, 'announce'>;
  readonly stallLimitMs: number;
  readonly onError: (error: unknown) => void;
}

interface Opening {
  readonly caller: Caller;
  readonly address: z.infer<typeof iiAgentAddress>;
  readonly request: IncomingMessage;
}

interface KnownSession {
  readonly threadId: ThreadId;
  readonly from: FramePlace;
  readonly isProcessing: boolean;
}

/** Why the server closes a socket, as RFC 6455 numbers it. */
const codes = { ended: 1000, refused: 1008, restart: 1012, tryAgain: 1013 } as const;
/** A client that is asked to close need not do it. */
const closeMs = 1_000;
const keepAliveMs = 15_000;

type Content = Readonly<Record<string, unknown>>;

const processing: IiAgentFrame = { type: 'processing', content: { message: 'Processing your request...' } };

/** One socket of a session. It shows what the log of the session says, and carries out one message at a time. */
export class IiAgentConnection {
  private readonly session: NamedSession;
  private readonly sink: WebSocketSink;
  private readonly over = new AbortController();
  private settings: ChosenSettings | undefined;
  private isFollowing = false;
  private handling: Promise<void> = Promise.resolve();
  private waiting = 0;

  constructor(
    private readonly client: WebSocket,
    private readonly opening: Opening,
    private readonly parts: ConnectionParts,
  ) {
    const { caller, address } = opening;
    this.session = { caller, name: parts.sessions.name(caller, address.session_uuid) };
    this.sink = new WebSocketSink(client, new Holding(parts.limits.memory, caller.accountId));
  }

  /** Everything ends with the socket, but no run does. */
  open(): void {
    const { client, parts, opening } = this;
    const remove = parts.connections.add(opening.caller, () => this.close(codes.refused));
    const keepAlive = setInterval(() => client.ping(), keepAliveMs);
    client.on('error', () => client.terminate());
    client.on('ping', () => this.sink.isFull() || client.pong());
    client.once('close', () => {
      clearInterval(keepAlive);
      remove();
      this.over.abort();
      this.sink.close();
    });
    client.on('message', (data: Buffer) => this.enqueue(() => this.handle(data)));
    this.enqueue(() => this.greet());
  }

  /** No more is read from the socket until it is done. */
  private enqueue(act: () => Promise<void>): void {
    this.waiting += 1;
    this.client.pause();
    this.handling = this.handling.then(async () => {
      if (!this.over.signal.aborted) await this.attempt(act);
      this.waiting -= 1;
      if (this.waiting === 0) this.client.resume();
    });
  }

  private async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const { body } = problemResponse(error);
      if (body.status >= 500) this.parts.onError(error);
      this.send(showError(body.detail ?? body.title, body.code));
    }
    if (!(await this.sink.drainsWithin(this.parts.stallLimitMs))) this.client.terminate();
  }

  /** Whatever happens after its first frame is shown. */
  private async greet(): Promise<void> {
    const message = 'Connected to Agent WebSocket Server';
    const content = { message, workspace_path: toWorkspace(this.session.name) };
    let known: KnownSession | undefined;
    try {
      const { address, request } = this.opening;
      known = await this.findKnown(address.after, readShown(request.headers, this.session.name));
    } finally {
      this.send({ type: 'connection_established', content });
    }
    if (known) this.followKnown(known);
  }

  private async handle(data: Buffer): Promise<void> {
    const release = this.parts.limits.memory.acquire(this.opening.caller.accountId, data.length);
    try {
      this.parts.rate.consume(this.opening.caller);
      const { type, content } = parseInput(iiAgentMessage, parseJson(data));
      await this.carryOut(type, content);
    } finally {
      release();
    }
  }

  private async carryOut(type: string, content: Content): Promise<void> {
    switch (type) {
      case 'ping':
        this.send({ type: 'pong', content: {} });
        return;
      case 'workspace_info':
        this.send({ type: 'workspace_info', content: { path: toWorkspace(this.session.name) } });
        return;
      case 'init_agent':
        return this.init(content);
      case 'query':
        return this.ask('ask', content);
      case 'edit_query':
        return this.ask('edit', content);
      case 'cancel':
        return this.cancel();
    }
    if (!Object.hasOwn(iiAgentRefusedMessages, type))
      throw new ApiError('invalid_request', `Unknown message type: ${type}`);
    const { why } = iiAgentRefusedMessages[type as keyof typeof iiAgentRefusedMessages]; // it has that
    throw new ApiError('invalid_request', `${type} is not served here: ${why}.`);
  }

  private async init(content: Content): Promise<void> {
    this.settings = await this.parts.sessions.choose(this.opening.caller, parseInput(iiAgentInit, content));
    this.send({ type: 'agent_initialized', content: { message: 'Agent initialized', vscode_url: '' } });
  }

  private async ask(how: 'ask' | 'edit', content: Content): Promise<void> {
    const query = parseInput(iiAgentQuery, content);
    if (!this.settings)
      throw new ApiError('invalid_request', 'Agent not initialized for this session: send init_agent.');
    const known = this.isFollowing ? undefined : await this.findKnown();
    if (known) this.followKnown(known);
    this.parts.workSignal.announce();
    this.send(processing);
    const threadId = await this.parts.sessions[how](this.session, query, this.settings);
    if (!this.isFollowing) this.follow(threadId, { place: 1, seq: 0, index: 0 });
  }

  /** It is told when the stop is stored. What it has ended follows from the log. */
  private async cancel(): Promise<void> {
    const { sessions, auditLog, authenticator, workSignal } = this.parts;
    const { caller, request } = this.opening;
    const run = await sessions.findActive(this.session);
    const act = { caller, action: 'run.stop', target: run.id, address: authenticator.readAddress(request) };
    workSignal.announce();
    await auditLog.record(act, () => sessions.stop(caller, run));
    this.send({ type: 'system', content: { message: 'Query cancelled' } });
  }

  /** Undefined for a session that has no thread yet. */
  private async findKnown(after?: string, shown?: FramePlace): Promise<KnownSession | undefined> {
    const threadId = await this.parts.sessions.find(this.session);
    if (!threadId) return undefined;
    const thread = { accountId: this.opening.caller.accountId, threadId };
    return { threadId, ...(await this.parts.sessions.findStart(thread, after, shown)) };
  }

  private followKnown({ threadId, from, isProcessing }: KnownSession): void {
    if (isProcessing) this.send(processing);
    this.follow(threadId, from);
  }

  private follow(threadId: ThreadId, from: FramePlace): void {
    this.isFollowing = true;
    let translator: IiAgentTranslator | undefined;
    let place = 0;
    const send = ({ event, place: at }: ThreadEvent): boolean => {
      if (at !== place || !translator) translator = new IiAgentTranslator(at, from);
      place = at;
      for (const frame of translator.translate(event)) if (frame.type !== 'user_message') this.send(frame);
      return !this.sink.isFull();
    };
    const sink = { send, waitUntilDrained: () => this.sink.waitUntilDrained() };
    const thread = { accountId: this.opening.caller.accountId, threadId };
    const options = { after: { place: from.place, seq: 0 }, sink, signal: this.over.signal };
    this.parts.threads.subscribe(thread, options).then(
      (ending) => this.endWith(ending),
      (error: unknown) => {
        this.send(showError(problemResponse(error).body.detail ?? 'The session cannot be followed.'));
        this.close(codes.tryAgain);
      },
    );
  }

  private endWith(ending: Ending): void {
    if (ending === 'stalled') this.client.terminate();
    else if (ending === 'deleted') {
      this.send(showError('The session was deleted.'));
      this.close(codes.ended);
    } else this.leave();
  }

  private send(frame: IiAgentFrame): void {
    this.sink.send(JSON.stringify(frame));
  }

  /** Its client comes back to another gateway. */
  leave(): void {
    this.close(codes.restart);
  }

  private close(code: number): void {
    this.over.abort();
    this.client.close(code);
    setTimeout(() => this.client.terminate(), closeMs).unref();
  }
}
