import { randomBytes } from 'node:crypto';
import {
  type CallInput,
  type ExecutorResult,
  type McpDiscovery,
  type McpServerRequest,
  type McpServer,
  accountId,
  mcpHeaderPurpose,
  threadId,
} from '@rondo/contract';
import type { ToolReply } from '@rondo/messaging';
import { CheckedDestination, SecretBox, type Target, createLogger } from '@rondo/platform';
import type { Sandbox } from '../../sandboxes';
import { type CallOptions, ExecutorFixture, aCall } from '../../testing/executor-fixture';
import { McpDiscoveries } from '../mcp-discoveries';
import { McpTools, ownCommandId } from '../mcp-tools';

const account = accountId.parse('acc_1');
const thread = threadId.parse('thr_one');

/** Calls of MCP tools as an executor gets them. The addresses of this machine count as public. */
export class McpUseFixture {
  mcp: McpTools;
  private discovered: McpDiscovery | undefined;

  private constructor(
    private readonly executor: ExecutorFixture,
    private readonly secrets: SecretBox,
    mcp: McpTools,
  ) {
    this.mcp = mcp;
  }

  static async open(): Promise<McpUseFixture> {
    const key = randomBytes(32).toString('base64');
    const secrets = new SecretBox(key, 'mcp');
    const mcp = new McpTools(secrets);
    const egress = { isAllowed: isOfTest, resolve: () => Promise.resolve(['127.0.0.1']) };
    return new McpUseFixture(await ExecutorFixture.open({}, egress, { mcp }), secrets, mcp);
  }

  sealed(server: McpServerRequest, owner = account): McpServer {
    if (server.transport === 'stdio') return server;
    const { headers = {}, ...rest } = server;
    const sealed = Object.entries(headers).map(([name, value]) => [
      name,
      this.secrets.seal(value, mcpHeaderPurpose(owner, server.url, name)),
    ]);
    return { ...rest, sealed_headers: Object.fromEntries(sealed) as Record<string, string> };
  }

  async list(server: McpServerRequest): Promise<McpDiscovery> {
    this.discovered = await this.mcp.list({
      ...{ server: this.sealed(server), account, thread, run: 'run_1', commandId: ownCommandId(), call: null },
      signal: new AbortController().signal,
      egress: { admit },
      sandbox: () => this.executor.sandbox('thr_one'),
    });
    return this.discovered;
  }

  /** As for an account that no run has used it for. */
  discoveries(): McpDiscoveries {
    const { mcp, executor } = this;
    return new McpDiscoveries({ mcp, sandboxes: executor.provider, slots: executor.slots, log: silent });
  }

  /** The threads whose sandboxes there are. */
  async sandboxes(): Promise<readonly string[]> {
    return (await this.executor.provider.list()).map((sandbox) => sandbox.threadId);
  }

  /** A tool by the name that the last list gave it. */
  reply(
    server: McpServerRequest,
    name: string,
    given: Record<string, unknown> = {},
    { input, ...options }: CallOptions & { readonly input?: CallInput } = {},
  ): Promise<ToolReply> {
    const found =
      this.discovered?.how === 'connected' ? this.discovered.tools.find((one) => one.name === name) : undefined;
    if (!found) throw new Error(`there is no tool ${name}`);
    const { tool, fingerprint } = found;
    const call = aCall(name, given, { account, ...options });
    return this.executor.reply(
      { ...call, ...(input && { input }), mcp: { server: this.sealed(server), tool, fingerprint } },
      options,
    );
  }

  async use(...call: Parameters<McpUseFixture['reply']>): Promise<ExecutorResult> {
    const reply = await this.reply(...call);
    if (reply.how !== 'answered') throw new Error(`it was not answered but ${JSON.stringify(reply)}`);
    return reply.result;
  }

  readSandbox(threadId: string): Promise<Sandbox> {
    return this.executor.sandbox(threadId);
  }

  /** A file of the workspace. */
  async file(path: string): Promise<Buffer> {
    const { content } = await (await this.executor.sandbox('thr_one')).files.read(path);
    return content;
  }

  /** Another executor that knows no session. */
  async restart(): Promise<void> {
    await this.mcp.close();
    await this.executor.restart();
  }

  async close(): Promise<void> {
    await this.mcp.close();
    await this.executor.close();
  }
}

const silent = createLogger({ name: 'mcp-use', level: 'silent' });

const isOfTest = (address: string): boolean => address === '127.0.0.1';

const admit = (target: Target) =>
  CheckedDestination.check(target, { isAllowed: isOfTest, resolve: () => Promise.resolve(['127.0.0.1']) });
