import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '@rondo/contract';
import { TokenBucket, anySignal } from '@rondo/platform';
import { z } from 'zod';
import type { SecretUser } from '../secrets/secret-source';
import { type DescribedTools, describeTools } from './describe-tools';
import { type McpAnswer, readAnswer } from './mcp-result';
import type { SchemaChecker } from './schemas/schema-checker';

export interface ToolCallRequest {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly progress: (text: string) => void;
}

/** Of connecting and of listing the tools, each. */
export const connectMs = 15_000;
/** What the deployment gives a command, which may install the server first; a minute if it does not say. */
export const longestConnectMs = ({ server, startMs = 60_000 }: StartedServer): number =>
  server.transport === 'stdio' ? startMs : connectMs;

/** `startMs`: how long it may take to connect, and to list its tools, if it is a command. */
export interface StartedServer {
  readonly server: McpServer;
  readonly startMs?: number | undefined;
}

/** So old may a list of tools be when one of them is called. */
const listKeptMs = 10_000;
const mostPages = 8;
/** Messages and lines of a server that answer nothing. All servers share this process. */
const unasked = { perSecond: 100, atOnce: 1_000 };
const identity = { name: 'rondo', version: '1' };

/** The tools are checked one by one, so that one with a wrong form spoils no other. */
const toolsPage = z.looseObject({ tools: z.array(z.unknown()).max(2_000), nextCursor: z.unknown().optional() });
const anyAnswer = z.looseObject({});

/** One session with a server, for one thread. */
export class McpConnection {
  /** Who makes its requests now: a session outlives the run that opened it. */
  user: SecretUser | undefined;
  private readonly client = new Client(identity);
  private readonly broken = new AbortController();
  private readonly unasked = new TokenBucket(unasked.perSecond, unasked.atOnce);
  private listed: DescribedTools | undefined;
  private listedAt = -Infinity;

  /** `transportOf` gets what to call when an answer breaks off. */
  constructor(
    private readonly started: StartedServer,
    private readonly schemas: Pick<SchemaChecker, 'problemsOf'>,
    private readonly transportOf: (broke: (error: Error) => void) => Transport,
  ) {
    this.client.onerror = () => this.countUnasked();
    this.client.onclose = () => this.broke(new Error('The server closed the connection.'));
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.listedAt = -Infinity;
    });
  }

  get isOpen(): boolean {
    return !this.broken.signal.aborted;
  }

  /** Rejects when that takes longer than it may, or when the signal is aborted; nothing of the session is left then. */
  async open(signal: AbortSignal): Promise<void> {
    try {
      const transport = this.transportOf((error) => this.broke(error));
      transport.onmessage = (message) => {
        if ('method' in message) this.countUnasked();
      };
      await this.within(signal, (given) =>
        this.client.connect(transport, { signal: given, timeout: longestConnectMs(this.started) }),
      );
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Not older than the time that a list may be kept. */
  async tools(signal: AbortSignal): Promise<DescribedTools> {
    if (this.listed && performance.now() - this.listedAt < listKeptMs) return this.listed;
    const given = await this.within(signal, (until) => this.list(until));
    this.listedAt = performance.now();
    this.listed = await describeTools(this.started.server, given, { schemas: this.schemas, signal });
    return this.listed;
  }

  /** What the server answers is not trusted, but has the form of a result. */
  async call({ tool, idempotencyKey, signal, timeoutMs, progress, ...request }: ToolCallRequest): Promise<McpAnswer> {
    const ended = anySignal([signal, this.broken.signal]);
    const params = { name: tool, arguments: request.arguments, _meta: { 'idempotency-key': idempotencyKey } };
    try {
      const answer = await this.client.request({ method: 'tools/call', params }, anyAnswer, {
        signal: ended.signal,
        timeout: timeoutMs,
        onprogress: ({ message, progress: done, total }) =>
          progress([message, total === undefined ? done : `${done}/${total}`].filter(Boolean).join(' ')),
      });
      return readAnswer(answer);
    } catch (error) {
      throw this.isOpen || signal.aborted ? error : this.broken.signal.reason; // the protocol's own error hides the reason
    } finally {
      ended.release();
    }
  }

  async close(): Promise<void> {
    this.broke(new Error('The connection was closed.'));
    await this.client.close().catch(() => undefined); // it may never have been open
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
    void this.client.close().catch(() => undefined); // what breaks need not close properly
  }

  /** Ends where the server names no cursor, or one that it has named before. What comes twice is one tool. */
  private async list(signal: AbortSignal): Promise<unknown[]> {
    const tools = new Map<string, unknown>();
    const cursors = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.client.request({ method: 'tools/list', params }, toolsPage, {
        signal,
        timeout: longestConnectMs(this.started),
      });
      for (const tool of result.tools) tools.set(JSON.stringify(tool), tool);
      const { nextCursor } = result;
      if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) break;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    return [...tools.values()];
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
      throw until.signal.aborted && error instanceof McpError ? reason() : error; // the protocol's own error hides the reason
    } finally {
      until.release();
    }
  }
}
