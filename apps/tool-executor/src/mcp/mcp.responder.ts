import { setMaxListeners } from 'node:events';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { McpDiscovery } from '@rondo/contract';
import { type McpListRequest, type NatsLink, answerMcpLists } from '@rondo/messaging';
import type { SandboxProvider, SandboxSlots } from '../sandboxes';
import { ExecutorClosing } from '../tools/tool-runner';
import { connectMs } from './mcp-connection';
import { type McpTools, ownCommandId } from './mcp-tools';

interface McpResponderParts {
  readonly nats: NatsLink;
  readonly executorId: string;
  readonly mcp: McpTools;
  readonly sandboxes: Pick<SandboxProvider, 'get' | 'egressOf'>;
  readonly slots: Pick<SandboxSlots, 'acquire'>;
}

/** Tells workers which tools the servers of a run have. */
export class McpResponder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly closing = new AbortController();
  private unsubscribe: () => void = () => undefined;

  constructor(private readonly parts: McpResponderParts) {
    setMaxListeners(0, this.closing.signal); // every list that is asked for listens
  }

  onApplicationBootstrap(): void {
    const { nats, executorId } = this.parts;
    this.unsubscribe = answerMcpLists(nats, executorId, (request) => this.list(request));
  }

  onModuleDestroy(): void {
    this.unsubscribe();
    this.closing.abort(new ExecutorClosing());
  }

  private async list(request: McpListRequest): Promise<McpDiscovery> {
    const { sandboxes, slots, mcp } = this.parts;
    const { thread_id: thread, run_id: run, account_id: account, server } = request;
    const late = AbortSignal.timeout(connectMs + 1_000);
    const signal = AbortSignal.any([this.closing.signal, late]);
    let release: () => void = () => undefined;
    const sandbox = async () => {
      release = await slots.acquire({ account, thread }, { signal, timeoutMs: connectMs });
      return sandboxes.get(thread, { account, thread, run });
    };
    try {
      const use = {
        server,
        account,
        thread,
        run,
        egress: sandboxes.egressOf(thread),
        commandId: ownCommandId(),
        signal,
      };
      return await mcp.list({ ...use, sandbox });
    } finally {
      release();
    }
  }
}
