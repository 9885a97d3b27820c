import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToolResult, accountId, callId, runId, threadId } from '@rondo/contract';
import { type ToolName, effectOf, toolNamed } from '@rondo/domain';
import type { DispatchedCall, ToolReply } from '@rondo/messaging';
import { newUlid } from '@rondo/platform';
import { ToolRunner } from '../run-tool';
import {
  type EgressRules,
  type GivenSandboxSettings,
  type SandboxProvider,
  type SandboxSettings,
  createSandboxProvider,
  sandboxSettings,
} from '../sandboxes';
import { SandboxSlots } from '../sandboxes/sandbox-slots';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface CallOptions {
  readonly thread?: string;
  readonly account?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly output?: (text: string) => void;
}

export function aCall(name: string, given: Record<string, unknown>, options: CallOptions = {}): DispatchedCall {
  return {
    call_id: callId.parse(`call_${newUlid()}`),
    run_id: runId.parse(`run_${newUlid()}`),
    thread_id: threadId.parse(options.thread ?? 'thr_one'),
    account_id: accountId.parse(options.account ?? 'acc_1'),
    name,
    arguments: given,
    effect_class: effectOf(toolNamed(name), given),
    attempt: 1,
    timeout_ms: options.timeoutMs ?? 120_000,
  };
}

/** Where a spec keeps workspaces: sandboxes have users of their own, who must be able to get there. */
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

/** Tools with real sandboxes under them. */
export class ExecutorFixture {
  private sandboxes: SandboxProvider;
  private runner: ToolRunner;
  places: SandboxSlots;

  private constructor(
    private readonly settings: SandboxSettings,
    private readonly egress: Partial<EgressRules>,
    private readonly sandboxMax: number,
  ) {
    this.sandboxes = createSandboxProvider(settings, silent, egress);
    this.places = new SandboxSlots(sandboxMax, this.sandboxes, silent);
    this.runner = new ToolRunner(this.sandboxes, this.places, silent);
  }

  static async open(
    settings: Partial<GivenSandboxSettings> = {},
    egress: Partial<EgressRules> = {},
    sandboxMax = 128,
  ): Promise<ExecutorFixture> {
    const isolation = { bubblewrapPath: bubblewrapPath(), root: await sandboxRoot() };
    const parsed = sandboxSettings.parse({ ...isolation, graceMs: 300, ...settings });
    return new ExecutorFixture(parsed, egress, sandboxMax);
  }

  async reply(call: DispatchedCall, { signal, output }: CallOptions = {}): Promise<ToolReply> {
    return this.runner.run(call, {
      signal: signal ?? new AbortController().signal,
      output: output ?? (() => undefined),
    });
  }

  async use(name: ToolName, given: Record<string, unknown> = {}, options: CallOptions = {}): Promise<ToolResult> {
    const reply = await this.reply(aCall(name, given, options), options);
    if (reply.how !== 'answered') throw new Error(`${name} was not answered but ${reply.how}`);
    return reply.result;
  }

  /** As when the executor ends and comes back: every process is gone, the workspaces are not. */
  async restart(): Promise<void> {
    await this.sandboxes.close();
    this.sandboxes = createSandboxProvider(this.settings, silent, this.egress);
    this.places = new SandboxSlots(this.sandboxMax, this.sandboxes, silent);
    this.runner = new ToolRunner(this.sandboxes, this.places, silent);
  }

  get awake(): readonly string[] {
    return this.sandboxes.awake().map(({ threadId }) => threadId);
  }

  async killSandbox(thread = 'thr_one'): Promise<void> {
    await (await this.sandboxes.get(thread)).stop();
  }

  async close(): Promise<void> {
    await this.sandboxes.close();
    await rm(this.settings.root, { recursive: true, force: true });
  }
}
