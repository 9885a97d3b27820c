import { setMaxListeners } from 'node:events';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { McpDiscovery, McpPromptAnswer } from '@rondo/contract';
import {
  type McpDiscoverRequest,
  type McpListRequest,
  type McpPromptRequest,
  type NatsLink,
  answerMcpDiscoveries,
  answerMcpLists,
  answerMcpPrompts,
} from '@rondo/messaging';
import { type Target, anySignal } from '@rondo/platform';
import type { SandboxLog, SandboxProvider, SandboxSlots, TermsInUse } from '../sandboxes';
import { ExecutorClosing } from '../tools/tool-handler';
import type { WorkspaceHosting } from '../hosting/workspace-ownership';
import { type StartedServer, longestConnectMs } from './mcp-connection';
import { McpDiscoveries } from './mcp-discoveries';
import { type McpTools, ownCommandId } from './mcp-tools';

interface McpResponderParts {
  readonly nats: NatsLink;
  readonly executorId: string;
  readonly mcp: McpTools;
  readonly sandboxes: Pick<SandboxProvider, 'get' | 'toEgress' | 'remove'>;
  readonly slots: Pick<SandboxSlots, 'acquire'>;
  readonly hosting: Pick<WorkspaceHosting, 'require'>;
  readonly terms: Pick<TermsInUse, 'hold'>;
  readonly log: SandboxLog;
}

/** Tells workers which tools the servers of a run have, and gateways which tools and prompts a server has that no run uses yet. */
export class McpResponder implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly closing = new AbortController();
  private readonly discoveries: McpDiscoveries;
  private subscriptions: (() => void)[] = [];

  constructor(private readonly parts: McpResponderParts) {
    this.discoveries = new McpDiscoveries(parts);
    setMaxListeners(0, this.closing.signal); // every list that is asked for listens
  }

  onApplicationBootstrap(): void {
    const { nats, executorId } = this.parts;
    this.subscriptions = [
      answerMcpLists(nats, executorId, (request) => this.list(request)),
      answerMcpDiscoveries(nats, executorId, (request) => this.discover(request)),
      answerMcpPrompts(nats, executorId, (request) => this.prompts(request)),
    ];
  }

  onModuleDestroy(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
    this.closing.abort(new ExecutorClosing());
  }

  private discover({ account_id: account, server, start_ms: startMs }: McpDiscoverRequest): Promise<McpDiscovery> {
    const started = { server, startMs };
    return this.inTime(started, (signal) => this.discoveries.discover({ account, ...started, signal }));
  }

  private prompts({
    account_id: account,
    server,
    start_ms: startMs,
    prompt,
  }: McpPromptRequest): Promise<McpPromptAnswer> {
    const started = { server, startMs };
    return this.inTime(started, (signal) => this.discoveries.prompts({ account, ...started, signal }, prompt));
  }

  private list(request: McpListRequest): Promise<McpDiscovery> {
    const { sandboxes, slots, hosting, terms, mcp } = this.parts;
    const { thread_id: thread, run_id: run, account_id: account, server, start_ms: startMs } = request;
    const { call_id: call = null } = request;
    const started = { server, startMs };
    const timeoutMs = longestConnectMs(started);
    return this.inTime(started, async (signal) => {
      const ends: (() => void)[] = [];
      const sandbox = async () => {
        await hosting.require(thread, { signal, timeoutMs });
        ends.push(await slots.acquire({ account, thread }, { signal, timeoutMs }));
        ends.push(await terms.hold(thread, request.sandbox));
        await sandboxes.toEgress(thread).secrets?.grant({ account, run, call: null });
        return sandboxes.get(thread, { account, thread, run });
      };
      try {
        const egress = { admit: (target: Target) => sandboxes.toEgress(thread).admitUnlisted(target) };
        const use = { ...started, account, thread, run, egress, commandId: ownCommandId(), call };
        const found = await mcp.list({ ...use, signal, sandbox });
        if (found.how === 'failed') this.closing.signal.throwIfAborted(); // not the server has failed: the next process is asked
        return found;
      } finally {
        for (const end of ends.reverse()) end();
      }
    });
  }

  private async inTime<Result>(
    started: StartedServer,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const ended = anySignal([this.closing.signal, AbortSignal.timeout(longestConnectMs(started) + 1_000)]);
    try {
      return await work(ended.signal);
    } finally {
      ended.release();
    }
  }
}
