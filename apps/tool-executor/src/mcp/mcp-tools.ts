import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import {
  type ExecutorResult,
  type McpDiscovery,
  type McpPromptAnswer,
  type McpPromptChoice,
  type McpTask,
  type McpTool,
  type RequiredInput,
  type ThreadId,
  type ToolResult,
  connectKey,
  connectWords,
  scopesKey,
  toFailedResult,
} from '@rondo/contract';
import type { DispatchedCall } from '@rondo/messaging';
import { type SecretBox, newUlid } from '@rondo/platform';
import { z } from 'zod';
import { SandboxError, workspacePath } from '../sandboxes';
import type { ConnectionMissing, SecretSource } from '../secrets/secret-source';
import { Secrets } from '../services/secrets';
import { ExecutorClosing, InputRequired, OutcomeUnknown, TaskCreated, type ToolContext } from '../tools/tool-handler';
import type { HandledTool } from '../tools/tool-handlers';
import type { McpConnection } from './mcp-connection';
import type { KeepBytes } from './mcp-result';
import { KnownGenerations } from './generations';
import { type McpFailure, findConnectionMissing, toFailure, toReason } from './mcp-failure';
import { McpSessions } from './mcp-sessions';
import { TaskLost } from './tasks';
import { openHeaders, secretsIn } from './open-headers';
import { type McpUse, openConnection, toSecretUser } from './open-connection';
import { readableLine } from './readable-text';
import { SchemaChecker, problemBefore, checkPromises } from './schemas/schema-checker';

/** Of one thread. */
export interface ThreadMcpUse extends McpUse {
  readonly thread: ThreadId;
}

type FailedDiscovery = Extract<McpDiscovery, { how: 'failed' }>;

export type McpTarget = NonNullable<DispatchedCall['mcp']>;

const progressCharacters = 500;
/** Lines of one call. */
const mostProgress = 1_000;
/** Of asking for a task, one after the other. */
const mostFailures = 5;
const firstPauseMs = 1_000;
const anyArguments = z.looseObject({});

/** Calls tools of MCP servers, and finds out which tools a server has. */
export class McpTools {
  private readonly sessions = new McpSessions();
  private readonly generations = new KnownGenerations();

  constructor(
    private readonly secrets: Pick<SecretBox, 'open'> | undefined,
    private readonly source?: Pick<SecretSource, 'open' | 'openToken' | 'listOpened'>,
    private readonly schemas = new SchemaChecker(),
  ) {}

  /** Never rejects. A server in the sandbox ends again: the run's first call starts one that belongs to that call. */
  async list(use: ThreadMcpUse): Promise<McpDiscovery> {
    const key = toKey(use);
    const tools = () =>
      this.sessions.use(
        key,
        () => this.open(use),
        (connection) => {
          connection.user = toSecretUser(use);
          return connection.tools(use.signal);
        },
      );
    try {
      const again = async (error: unknown) => {
        if (toFailure(error) !== 'session_lost') throw error;
        await this.sessions.drop(key);
        return tools();
      };
      return { how: 'connected', ...(await tools().catch(again)) };
    } catch (error) {
      await this.sessions.drop(key);
      return this.toFailure(use, error);
    } finally {
      if (use.server.transport === 'stdio') await this.sessions.drop(key);
    }
  }

  /** The tools of a server that no run uses yet. Never rejects, and leaves no session. */
  discover(use: McpUse): Promise<McpDiscovery> {
    return this.ask(use, async (connection) => ({ how: 'connected', ...(await connection.tools(use.signal)) }));
  }

  /** The same for its prompts, or the one that is chosen. */
  prompts(use: McpUse, chosen: McpPromptChoice | undefined): Promise<McpPromptAnswer> {
    const clean = (text: string) => this.redact(use, text);
    return this.ask(use, (connection) => connection.prompts({ chosen, clean }, use.signal));
  }

  private async ask<Answer>(
    use: McpUse,
    question: (connection: McpConnection) => Promise<Answer>,
  ): Promise<Answer | FailedDiscovery> {
    let connection: McpConnection | undefined;
    try {
      connection = await this.open(use);
      return await question(connection);
    } catch (error) {
      return this.toFailure(use, error);
    } finally {
      await connection?.close();
    }
  }

  /** The tool as far as an executor knows it: what the model reads of it is with the run. */
  createTool(call: DispatchedCall, target: McpTarget): HandledTool {
    const { name, effect_class: effect, timeout_ms: timeoutMs } = call;
    const about = { description: '', input: anyArguments, runsIn: 'executor', group: 'external' } as const;
    return {
      tool: { ...about, name, effect, timeoutMs },
      handler: { handle: (_, context) => this.call(call, target, context) },
    };
  }

  async close(): Promise<void> {
    await this.sessions.close();
    await this.schemas.close();
  }

  private async call(call: DispatchedCall, target: McpTarget, context: ToolContext): Promise<ExecutorResult> {
    const { account_id: account, thread_id: thread, run_id: run, call_id: commandId } = call;
    if (account === undefined) return toFailedResult('The call names no account. Not executed.');
    const use: ThreadMcpUse = {
      ...{ server: target.server, account, thread, run, commandId, call: commandId, signal: context.signal },
      egress: { admit: (asked) => context.egress.admitUnlisted(asked) },
      sandbox: () => Promise.resolve(context.sandbox),
    };
    if (call.task) return this.withoutSecrets(use, await this.follow(use, { call, target, context }, call.task));
    const result =
      (await this.attempt(use, { call, target, context }, true)) ??
      (await this.attempt(use, { call, target, context }, false)) ??
      toFailedResult(`The server "${target.server.name}" lost its session twice. Not executed.`);
    return this.withoutSecrets(use, result);
  }

  /** Undefined when the server has forgotten the session, and so has not looked at the call. */
  private async attempt(use: ThreadMcpUse, work: Attempt, mayRepeat: boolean): Promise<ExecutorResult | undefined> {
    const key = toKey(use);
    const sent = { isSent: false };
    try {
      return await this.sessions.use(
        key,
        () => this.open(use),
        async (connection) => {
          connection.user = toSecretUser(use);
          const tool = await findShownTool(connection, work);
          if ('success' in tool) return tool;
          const promised = { tool, given: work.call.arguments, signal: use.signal, keep: this.keeper(use, work) };
          const wrong = await problemBefore(promised, this.schemas);
          if (wrong !== undefined) return wrong;
          sent.isSent = true;
          const answer = await connection.call({ ...toToolRequest(work, tool), progress: this.progressTo(use, work) });
          if ('task' in answer) throw new TaskCreated(answer.task);
          if ('asked' in answer) throw new InputRequired(this.withoutSecretsIn(use, answer));
          return checkPromises(promised, answer, this.schemas);
        },
      );
    } catch (error) {
      if (error instanceof InputRequired || error instanceof TaskCreated) throw error;
      const missing = findConnectionMissing(error);
      if (missing) return askToConnect(work, missing);
      const how = toFailure(error);
      if (how === 'session_lost') await this.sessions.drop(key); // what is broken otherwise is not used again
      if (how === 'session_lost' && mayRepeat) return undefined;
      if (sent.isSent && how === 'unknown') throw this.unknown(use, error);
      use.signal.throwIfAborted();
      return toFailedResult(`The server "${use.server.name}" ${sent.isSent ? says[how] : unsent}: ${toReason(error)}`);
    }
  }

  /** Live output, as far as it is of use to people: a server may report without end. */
  private progressTo(use: McpUse, { context }: Attempt): (text: string) => void {
    let left = mostProgress;
    return (text) => {
      if (left-- > 0) context.output(`${this.redact(use, readableLine(text, progressCharacters))}\n`);
    };
  }

  /** Files of the workspace. Their names follow from the call, so a repetition overwrites its own. */
  private keeper(use: McpUse, { context: { sandbox, idempotencyKey } }: Attempt): KeepBytes {
    let count = 0;
    return async (bytes, uri) => {
      const name = uri
        .replace(/[?#].*$/s, '')
        .split('/')
        .at(-1)
        ?.replace(/[^A-Za-z0-9._-]/g, '_')
        .slice(-60);
      const path = `resources/${use.server.name}/${idempotencyKey.slice(-12)}_${++count}_${name}`;
      const clean = Buffer.from(this.redact(use, bytes.toString('latin1')), 'latin1');
      try {
        await sandbox.files.write(path, clean, { mode: 'put' });
        return `in the file ${workspacePath}/${path}`;
      } catch (error) {
        if (error instanceof SandboxError) return `not kept: ${readableLine(error.message, 200)}`;
        throw error;
      }
    };
  }

  /** The outcome of what the call has become at its server, which may be away for a moment. Nothing is called. */
  private async follow(use: ThreadMcpUse, work: Attempt, task: McpTask): Promise<ExecutorResult> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.sessions.use(
          toKey(use),
          () => this.open(use),
          (connection) => this.followIn(connection, use, { ...work, task }),
        );
      } catch (error) {
        if (error instanceof InputRequired) throw error;
        use.signal.throwIfAborted();
        const how = toFailure(error);
        if (how === 'session_lost') await this.sessions.drop(toKey(use));
        if (error instanceof ProtocolError || how === 'unreadable' || how === 'not_given')
          return toFailedResult(`The server "${use.server.name}" ${says[how]}: ${toReason(error)}`);
        const unknown = this.unknown(use, error);
        unknown.isTaskLost = error instanceof TaskLost;
        if (unknown.isTaskLost || failures >= mostFailures) throw unknown;
        await sleep(firstPauseMs * 2 ** failures, undefined, { signal: use.signal }).catch(() =>
          use.signal.throwIfAborted(),
        );
      }
    }
  }

  private async followIn(
    connection: McpConnection,
    use: ThreadMcpUse,
    work: Attempt & { task: McpTask },
  ): Promise<ExecutorResult> {
    connection.user = toSecretUser(use);
    const { tools } = await connection.tools(use.signal);
    const tool = tools.find((one) => one.tool === work.target.tool);
    if (!tool) throw new TaskLost('it has no such tool any more');
    const request = { ...toToolRequest(work, tool), progress: this.progressTo(use, work), task: work.task };
    const answer = await connection.call(request);
    if ('task' in answer) throw new TaskLost('it made another task of its task');
    if ('asked' in answer) throw new InputRequired(this.withoutSecretsIn(use, answer));
    const promised = { tool, given: work.call.arguments, signal: use.signal, keep: this.keeper(use, work) };
    return checkPromises(promised, answer, this.schemas);
  }

  private withoutSecretsIn(use: McpUse, { asked, ...required }: RequiredInput): RequiredInput {
    return { ...required, asked: asked.map((one) => ({ ...one, message: this.redact(use, one.message) })) };
  }

  private toFailure(use: McpUse, error: unknown): FailedDiscovery {
    const missing = findConnectionMissing(error);
    return {
      ...{ how: 'failed', reason: this.redact(use, toReason(error)) },
      ...(missing && { is_unconnected: true }),
      ...(missing && missing.page !== null && { connect_page: missing.page }),
    };
  }

  private unknown(use: McpUse, error: unknown): OutcomeUnknown {
    const why = use.signal.aborted ? 'the call was cancelled after it had been sent' : toReason(error);
    return new OutcomeUnknown(this.redact(use, `No answer came from the server "${use.server.name}": ${why}`));
  }

  private open(use: McpUse): Promise<McpConnection> {
    const { secrets, source, schemas, generations } = this;
    return openConnection(use, { secrets, source, schemas, generations });
  }

  private withoutSecrets(use: McpUse, result: ExecutorResult): ExecutorResult {
    const { output, error } = result;
    const clean = {
      output: this.redact(use, output),
      ...(error !== undefined && { error: this.redact(use, error) }),
    };
    return { ...result, ...clean };
  }

  private redact({ server, account }: McpUse, text: string): string {
    try {
      const opened = this.source?.listOpened(account) ?? [];
      return new Secrets([...secretsIn(openHeaders(server, account, this.secrets)), ...opened]).redact(text);
    } catch {
      return text; // headers that cannot be opened were never sent
    }
  }
}

const unsent = 'could not be used, and the call was not sent';
const says: Record<McpFailure, string> = {
  ...{ session_lost: unsent, not_sent: unsent, unknown: 'did not answer' },
  refused: 'refused the call',
  not_given: 'did not complete the call, because it asks for something that it cannot get',
  unreadable: 'executed the call, but its answer cannot be used',
};

interface Attempt {
  readonly call: DispatchedCall;
  readonly target: McpTarget;
  readonly context: ToolContext;
}

/** The id of a command that belongs to no call. */
export const ownCommandId = (): string => `call_${newUlid()}`;

/** A process belongs to its run, and so does a session of one person; another over the network serves the whole thread. */
const toKey = ({ server, account, thread, run }: ThreadMcpUse): string => {
  const isOfRun = server.transport === 'stdio' || server.connection === 'user';
  return JSON.stringify([account, thread, server, isOfRun ? run : null]);
};

/** The call waits for a person to connect its server, or to allow it more. Fails where none can be asked, or one has said no. */
function askToConnect({ call, target }: Attempt, { page, message, scopes }: ConnectionMissing): ToolResult {
  const { name: server } = target.server;
  const { answers = {}, state } = call.input ?? {};
  const key = scopes ? scopesKey : connectKey;
  const answer = answers[key];
  if (answer && answer.action !== 'accept') {
    const lack = scopes ? `wants more scopes (${scopes.join(' ')})` : 'is not connected';
    return toFailedResult(`The server "${server}" ${lack}, and a person has decided not to. Not executed.`);
  }
  if (answer && scopes)
    return toFailedResult(`The server "${server}" wants still more scopes (${scopes.join(' ')}). Not executed.`);
  if (page === null) return toFailedResult(`The server "${server}" cannot be used. ${message} Not executed.`);
  const words = scopes
    ? `For this call it wants more than it was allowed: ${scopes.join(' ')}. The run goes on by itself once that is allowed there.`
    : connectWords;
  const asked = [{ key, server, mode: 'url' as const, message: words, url: page }];
  throw new InputRequired({ asked, ...(state !== undefined && { state }) });
}

/** What the server itself asked people for, without the question whether to connect it. */
function readServersInput(input: DispatchedCall['input']): DispatchedCall['input'] {
  if (!input?.answers[connectKey] && !input?.answers[scopesKey]) return input;
  const { [connectKey]: _, [scopesKey]: __, ...answers } = input.answers;
  return Object.keys(answers).length > 0 || input.state !== undefined ? { ...input, answers } : undefined;
}

/** A tool that is not what the model was shown any more is not called: the model would not know what it does. */
async function findShownTool(connection: McpConnection, { target, context }: Attempt): Promise<McpTool | ToolResult> {
  const { tools } = await connection.tools(context.signal);
  const tool = tools.find((one) => one.tool === target.tool);
  if (tool?.fingerprint === target.fingerprint) return tool;
  const what = tool ? 'has changed this tool' : 'no longer has this tool';
  return toFailedResult(
    `The server "${target.server.name}" ${what} since the run began, so it is withdrawn for the rest of the run. Not executed.`,
  );
}

const toToolRequest = ({ call, context }: Attempt, tool: McpTool) => ({
  tool,
  input: readServersInput(call.input),
  arguments: call.arguments,
  idempotencyKey: context.idempotencyKey,
  signal: context.signal,
  timeoutMs: context.timeoutMs,
  mostMs: context.mostMs,
  isStopped: () => context.signal.aborted && !(context.signal.reason instanceof ExecutorClosing),
});
