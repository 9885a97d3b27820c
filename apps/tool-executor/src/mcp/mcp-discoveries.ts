import {
  type AccountId,
  type McpDiscovery,
  type McpPromptAnswer,
  type McpPromptChoice,
  threadId,
} from '@rondo/contract';
import { FairSlots } from '@rondo/messaging';
import { newUlid } from '@rondo/platform';
import type { Sandbox, SandboxLog, SandboxProvider, SandboxSlots } from '../sandboxes';
import { type StartedServer, longestConnectMs } from './mcp-connection';
import { type McpTools, ownCommandId } from './mcp-tools';
import type { McpUse } from './open-connection';

export interface McpDiscoveriesParts {
  readonly mcp: Pick<McpTools, 'discover' | 'prompts'>;
  readonly sandboxes: Pick<SandboxProvider, 'get' | 'toEgress' | 'remove'>;
  readonly slots: Pick<SandboxSlots, 'acquire'>;
  readonly log: SandboxLog;
}

export interface UnusedServer extends StartedServer {
  readonly account: AccountId;
  readonly signal: AbortSignal;
}

/** Those that wait for their turn do so within their time. A server that never answers uses one of its account's. */
const atOnce = { total: 8, perAccount: 2, perThread: 2 };

/**
 * Finds out which tools and prompts a server has that no run uses yet. Nothing is left of it: a server in the sandbox gets one that is
 * removed again, and never that of a thread, whose files it could read.
 */
export class McpDiscoveries {
  private readonly turns = new FairSlots(atOnce);

  constructor(private readonly parts: McpDiscoveriesParts) {}

  /** Never rejects. */
  discover(unused: UnusedServer): Promise<McpDiscovery> {
    return this.inTurn(unused, (use) => this.parts.mcp.discover(use));
  }

  /** Never rejects. */
  prompts(unused: UnusedServer, chosen: McpPromptChoice | undefined): Promise<McpPromptAnswer> {
    return this.inTurn(unused, (use) => this.parts.mcp.prompts(use, chosen));
  }

  private inTurn<Answer>(unused: UnusedServer, ask: (use: McpUse) => Promise<Answer>): Promise<Answer> {
    const { account, signal } = unused;
    return this.turns.run({ account, thread: account }, signal, () =>
      unused.server.transport === 'stdio' ? this.inSandbox(unused, ask) : this.overNetwork(unused, ask),
    );
  }

  /** All of an account share the rate of one sandbox. */
  private overNetwork<Answer>(unused: UnusedServer, ask: (use: McpUse) => Promise<Answer>): Promise<Answer> {
    const egress = this.parts.sandboxes.toEgress(`discovery-${unused.account}`);
    const sandbox = () => Promise.reject(new Error('A server over the network needs no sandbox.'));
    return ask({ ...unused, ...ofNoRun(), egress, sandbox });
  }

  private async inSandbox<Answer>(
    { account, server, startMs, signal }: UnusedServer,
    ask: (use: McpUse) => Promise<Answer>,
  ): Promise<Answer> {
    const { sandboxes, slots } = this.parts;
    const thread = threadId.parse(`thr_${newUlid()}`); // of no thread: reconcilers remove the sandbox if this process dies
    let release: () => void = () => undefined;
    const sandbox = async (): Promise<Sandbox> => {
      release = await slots.acquire({ account, thread }, { signal, timeoutMs: longestConnectMs({ server, startMs }) });
      return sandboxes.get(thread, { account, thread });
    };
    try {
      return await ask({
        ...{ account, server, startMs, signal, sandbox },
        ...ofNoRun(),
        egress: sandboxes.toEgress(thread),
      });
    } finally {
      await this.remove(thread);
      release();
    }
  }

  private async remove(thread: string): Promise<void> {
    try {
      await this.parts.sandboxes.remove(thread);
    } catch (error) {
      this.parts.log.warn({ threadId: thread, err: error }, 'sandbox of an MCP discovery is left to the reconciler');
    }
  }
}

const ofNoRun = () => ({ run: `discovery_${newUlid()}`, commandId: ownCommandId(), call: null });
