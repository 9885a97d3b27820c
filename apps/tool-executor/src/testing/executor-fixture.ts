import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToolResult, accountId, callId, runId, threadId } from '@rondo/contract';
import { toEffect, builtInTools } from '@rondo/domain';
import type { DispatchedCall, ToolReply } from '@rondo/messaging';
import { newUlid, KeyedMutex } from '@rondo/platform';
import { McpTools } from '../mcp/mcp-tools';
import type { SiteStore } from '../sites/site-store';
import { type ToolServices, createToolServices } from '../tools/tool-services';
import { type ToolLog, ToolRunner, type ToolSandboxes } from '../tools/tool-runner';
import {
  type EgressRules,
  type SandboxSettingsInput,
  type Sandbox,
  type SandboxProvider,
  SandboxSlots,
  type SandboxSettings,
  createSandboxProvider,
  deletionNotice,
  sandboxSettings,
} from '../sandboxes';
import { engineUnderTest } from '../sandboxes/docker/testing/docker-fixture';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface CallOptions {
  readonly thread?: string;
  readonly account?: string;
  readonly timeoutMs?: number;
  readonly mostMs?: number;
  readonly signal?: AbortSignal;
  readonly output?: (text: string) => void;
}

interface FixtureOptions {
  readonly sandboxMax?: number;
  readonly services?: ToolServices;
  readonly log?: ToolLog;
  readonly mcp?: McpTools;
  readonly sites?: SiteStore | undefined;
}

export function aCall(name: string, args: Record<string, unknown>, options: CallOptions = {}): DispatchedCall {
  return {
    call_id: callId.parse(`call_${newUlid()}`),
    run_id: runId.parse(`run_${newUlid()}`),
    thread_id: threadId.parse(options.thread ?? 'thr_one'),
    account_id: accountId.parse(options.account ?? 'acc_1'),
    name,
    arguments: args,
    effect_class: toEffect(builtInTools.named(name), args),
    attempt: 1,
    timeout_ms: options.timeoutMs ?? 120_000,
    ...(options.mostMs !== undefined && { most_ms: options.mostMs }),
  };
}

/** A directory for the workspaces of a spec, which the users of sandboxes can enter. */
export async function sandboxRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'rondo-tools-'));
  await chmod(root, 0o711);
  return root;
}

export function bubblewrapPath(): string {
  const path = process.env['BWRAP_PATH'];
  if (path === undefined) throw new Error('BWRAP_PATH must name bubblewrap: tools are tested in real sandboxes');
  return path;
}

/** All tools with real sandboxes: of bubblewrap, or of an engine that `npm run engines` names. */
export class ExecutorFixture {
  private sandboxes: SandboxProvider;
  private runner: ToolRunner;
  slots: SandboxSlots;
  readonly turns = new KeyedMutex();

  private constructor(
    private readonly settings: SandboxSettings,
    private readonly egress: Partial<EgressRules>,
    private readonly options: Required<FixtureOptions>,
  ) {
    this.sandboxes = createSandboxProvider(settings, silent, egress);
    this.slots = new SandboxSlots(options.sandboxMax, this.sandboxes, silent);
    this.runner = this.newRunner();
  }

  static async open(
    settings: Partial<SandboxSettingsInput> = {},
    egress: Partial<EgressRules> = {},
    {
      sandboxMax = 128,
      services = createToolServices(),
      log = silent,
      mcp = new McpTools(undefined),
      sites,
    }: FixtureOptions = {},
  ): Promise<ExecutorFixture> {
    const place = engineUnderTest.provider
      ? engineUnderTest
      : { bubblewrapPath: bubblewrapPath(), browserPath: process.env['BROWSER_PATH'] };
    const parsed = sandboxSettings.parse({ ...place, root: await sandboxRoot(), graceMs: 300, ...settings });
    return new ExecutorFixture(parsed, egress, { sandboxMax, services, log, mcp, sites });
  }

  async reply(call: DispatchedCall, { signal, output }: CallOptions = {}): Promise<ToolReply> {
    return this.runner.run(call, {
      signal: signal ?? new AbortController().signal,
      output: output ?? (() => undefined),
    });
  }

  async use(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<ToolResult> {
    const reply = await this.reply(aCall(name, args, options), options);
    if (reply.how !== 'answered') throw new Error(`${name} was not answered but ${reply.how}`);
    return reply.result;
  }

  private newRunner(): ToolRunner {
    const { slots, options, turns } = this;
    const { sites, ...others } = options;
    const provider = this.sandboxes;
    const sandboxes: ToolSandboxes = {
      get: provider.get.bind(provider),
      toEgress: provider.toEgress.bind(provider),
      deletionNotice: (thread, call) => deletionNotice(provider, thread, call),
    };
    return new ToolRunner({ sandboxes, slots, turns, ...others, ...(sites && { sites }) });
  }

  /** Like a restart of the executor: kills every process and keeps the workspaces. */
  async restart(): Promise<void> {
    await this.sandboxes.close();
    this.sandboxes = createSandboxProvider(this.settings, silent, this.egress);
    this.slots = new SandboxSlots(this.options.sandboxMax, this.sandboxes, silent);
    this.runner = this.newRunner();
  }

  get provider(): SandboxProvider {
    return this.sandboxes;
  }

  get awake(): readonly string[] {
    return this.sandboxes.awake().map(({ threadId }) => threadId);
  }

  sandbox(thread: string): Promise<Sandbox> {
    return this.sandboxes.get(thread);
  }

  /** Deletes the files as the owner of the thread may. */
  async deleteFiles(thread: string): Promise<void> {
    await this.sandboxes.remove(thread, 'request');
  }

  async killSandbox(thread = 'thr_one'): Promise<void> {
    await (await this.sandboxes.get(thread)).stop();
  }

  async close(): Promise<void> {
    await this.sandboxes.close();
    await rm(this.settings.root, { recursive: true, force: true });
  }
}
