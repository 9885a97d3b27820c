import {
  type ExecutorResult,
  type SandboxTerms,
  type ThreadId,
  type ToolResult,
  toFailedResult,
} from '@rondo/contract';
import { type ToolDefinition, explainArguments } from '@rondo/domain';
import { type DispatchedCall, type ToolReply, toAccount } from '@rondo/messaging';
import { KeyedMutex } from '@rondo/platform';
import {
  type Sandbox,
  SandboxError,
  type SandboxLabels,
  type SandboxProvider,
  type SandboxSlots,
  WorkspaceMoved,
  toFullDisk,
} from '../sandboxes';
import type { SiteStore } from '../sites/site-store';
import type { SkillFolders } from '../skills/skill-folders';
import type { ToolServices } from './tool-services';
import { clipMiddle } from './clip-text';
import { OutputFrames } from './output-frames';
import { PlanWatch } from './plan-watch';
import {
  CallsRequested,
  ExecutorClosing,
  InputRequired,
  OutcomeUnknown,
  TaskCreated,
  type ToolContext,
  toTurn,
} from './tool-handler';
import { type HandledTool, handledToolNames, toolHandlerFor } from './tool-handlers';

/** The sandbox enforces a command's timeout itself; this is what it may need beyond it to kill the command and report. */
const slackMs = 10_000;

export interface ToolLog {
  debug(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface CallListeners {
  /** Aborted when the call's run is stopped, or with `ExecutorClosing` when this process is. */
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
}

export interface ToolRunnerParts {
  readonly sandboxes: ToolSandboxes;
  readonly slots: Pick<SandboxSlots, 'acquire'>;
  readonly services: ToolServices;
  /** The tools of servers that runs name. */
  /** The tools of MCP servers. */
  readonly mcp: { createTool(call: DispatchedCall, target: NonNullable<DispatchedCall['mcp']>): HandledTool };
  /** Absent: calls of runs that name skills are refused. */
  readonly skills?: Pick<SkillFolders, 'use'>;
  /** Absent: no site can be published. */
  readonly sites?: SiteStore;
  readonly log: ToolLog;
  /** Shared with what else acts in sandboxes, such as a person in a browser. */
  readonly turns?: KeyedMutex;
}

type PreparedCall = HandledTool & { readonly input: unknown };

interface RunningCall {
  readonly call: DispatchedCall;
  /** By `performance.now()`. */
  readonly startBy: number;
  readonly listeners: CallListeners;
  readonly sandbox: Sandbox;
}

export type ToolSandboxes = Pick<SandboxProvider, 'get' | 'toEgress' | 'openSkills'> & {
  /** Absent where no states of workspaces are kept. */
  readonly moments?: Pick<NonNullable<SandboxProvider['moments']>, 'enter'>;
  /** Absent where previews are not configured. */
  readonly previewUrl?: (threadId: string, port: number) => string | undefined;
  /** Rejects unless the workspace is here. Absent where it cannot be anywhere else. */
  readonly requireHere?: (
    threadId: ThreadId,
    wait: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ) => Promise<void>;
  /** Resolves to what ends the use. Absent: calls of runs that ask something of their sandbox are refused. */
  readonly holdTerms?: (threadId: string, terms: SandboxTerms | undefined) => Promise<() => void>;
  /** Undefined unless the call has to be told that the files of the workspace were deleted. */
  readonly deletionNotice?: (threadId: string, callId: string) => Promise<string | undefined>;
};

/**
 * Runs one call and answers it, whatever happens: a failure is a result for the model. The answer is `unknown` (I5) only
 * when it cannot be determined whether the call took effect: the sandbox was lost during the call, or its handler reports
 * so. Whether another attempt follows or the model is asked, the loop decides by the call's effect class.
 */
export class ToolRunner {
  private readonly turns: KeyedMutex;
  private readonly plans = new PlanWatch();

  constructor(private readonly parts: ToolRunnerParts) {
    this.turns = parts.turns ?? new KeyedMutex();
  }

  async run(call: DispatchedCall, listeners: CallListeners): Promise<ToolReply> {
    const startedAt = performance.now();
    const reply = await this.answer(call, listeners);
    const durationMs = Math.round(performance.now() - startedAt);
    const { call_id: callId, run_id: runId, thread_id: threadId, name } = call;
    this.parts.log.debug({ callId, runId, threadId, name, durationMs, how: reply.how }, 'tool call answered');
    return reply;
  }

  private async answer(call: DispatchedCall, listeners: CallListeners): Promise<ToolReply> {
    const prepared = prepare(call, this.parts.mcp);
    if ('success' in prepared) return { how: 'answered', result: prepared, duration_ms: 0 };

    try {
      listeners.signal.throwIfAborted();
      return await this.runInSlot(prepared, call, listeners);
    } catch (error) {
      return this.answerToFailure(error, call, listeners.signal);
    }
  }

  private async runInSlot(prepared: PreparedCall, call: DispatchedCall, listeners: CallListeners): Promise<ToolReply> {
    const user = { account: toAccount(call), thread: call.thread_id };
    const startBy = performance.now() + (call.patience_ms ?? Infinity);
    const wait = { signal: listeners.signal, timeoutMs: longestWaitMs(call) };
    await this.parts.sandboxes.requireHere?.(call.thread_id, wait); // it may take long, so it occupies no place
    const release = await this.parts.slots.acquire(user, wait);
    const ends: (() => void)[] = [release];
    try {
      await this.parts.sandboxes.requireHere?.(call.thread_id, wait); // so may the wait for a place
      const notice = usesFiles(prepared.tool) ? await this.deletionNotice(call) : undefined;
      if (notice !== undefined) return toFailure(notice);
      ends.push(await this.holdTerms(call));
      const refusal = await this.grantSecrets(prepared, call);
      if (refusal !== undefined) return toFailure(refusal);
      const labels = { ...user, run: call.run_id, ...(call.epoch !== undefined && { epoch: String(call.epoch) }) };
      ends.push(await this.useSkills(prepared, call, labels));
      const sandbox = await this.parts.sandboxes.get(call.thread_id, labels);
      ends.push(await this.beginMoment(prepared, call, labels));
      return await this.runInTurn(prepared, { call, startBy, listeners, sandbox });
    } finally {
      for (const end of ends.reverse()) end();
    }
  }

  private async holdTerms({ thread_id: thread, sandbox: terms }: DispatchedCall): Promise<() => void> {
    const { holdTerms } = this.parts.sandboxes;
    if (holdTerms) return holdTerms(thread, terms);
    if (terms) throw new SandboxError('unsupported', 'Not executed: sandboxes here take no environment of a run.');
    return () => undefined;
  }

  /** Undefined unless the sandbox cannot use the secrets that the run names. */
  private async grantSecrets({ tool }: PreparedCall, call: DispatchedCall): Promise<string | undefined> {
    const { secrets: names = [], account_id: account, run_id: run, call_id: callId } = call;
    if (names.length === 0 || account === undefined || !runsCommands(tool, call)) return undefined;
    const { secrets } = this.parts.sandboxes.toEgress(call.thread_id);
    if (!secrets) return `Not executed: the run names secrets (${names.join(', ')}), and ${noSecrets}`;
    await secrets.grant({ account, run, call: callId });
    return undefined;
  }

  /** Resolves to what ends the use. Rejects with SandboxError where the sandbox cannot be shown the skills that the run names. */
  private async useSkills({ tool }: PreparedCall, call: DispatchedCall, labels: SandboxLabels): Promise<() => void> {
    const { skills = [], thread_id: thread, run_id: run } = call;
    if (skills.length === 0 || !(usesFiles(tool) || runsCommands(tool, call))) return () => undefined;
    const folder = await this.parts.sandboxes.openSkills?.(thread, labels);
    if (folder !== undefined && this.parts.skills) return this.parts.skills.use(folder, skills, run);
    const names = skills.map(({ name }) => name).join(', ');
    throw new SandboxError('unsupported', `Not executed: the run names skills (${names}), and ${noSkills}`);
  }

  /** Resolves to what is called when the call has ended: the state of the files is kept then, before the next call begins. */
  private async beginMoment({ tool }: PreparedCall, call: DispatchedCall, labels: SandboxLabels): Promise<() => void> {
    const { moments } = this.parts.sandboxes;
    if (!moments || call.effect_class === 'pure') return () => undefined;
    if (!usesFiles(tool) && !runsCommands(tool, call) && !tool.name.startsWith('browser_')) return () => undefined;
    return moments.enter(call.thread_id, { run: call.run_id, call: call.call_id, labels });
  }

  private async deletionNotice({ thread_id, call_id }: DispatchedCall): Promise<string | undefined> {
    return this.parts.sandboxes.deletionNotice?.(thread_id, call_id);
  }

  private runInTurn(prepared: PreparedCall, running: RunningCall): Promise<ToolReply> {
    const { call, listeners } = running;
    const key = prepared.handler.mutexKey?.(prepared.input);
    const execute = () => this.execute(prepared, running);
    return key === undefined ? execute() : this.turns.run(toTurn(call.thread_id, key), execute, listeners.signal);
  }

  /** The reported duration does not include the wait for a slot and for the mutex. */
  private async execute({ tool, handler, input }: PreparedCall, running: RunningCall): Promise<ToolReply> {
    const { call, startBy, listeners, sandbox } = running;
    // Its worker has stopped waiting, and a user may have been told that it never ran (I5).
    if (performance.now() >= startBy) return toFailure('Not executed: its turn came too late.');
    const startedAt = performance.now();
    const timeoutMs = Math.min(tool.timeoutMs, call.timeout_ms);
    const frames = new OutputFrames(listeners.output);
    const context: ToolContext = {
      sandbox,
      name: call.name,
      egress: this.parts.sandboxes.toEgress(call.thread_id),
      previewUrl: (port) => this.parts.sandboxes.previewUrl?.(call.thread_id, port),
      sites: this.parts.sites?.of(call.thread_id, toAccount(call)),
      services: this.parts.services,
      timeoutMs,
      mostMs: call.most_ms ?? timeoutMs,
      idempotencyKey: call.call_id,
      attempt: call.attempt,
      answers: call.answers ?? [],
      runId: call.run_id,
      signal: listeners.signal,
      output: (text) => frames.push(text),
    };
    try {
      const cacheable = { tool, input, account: toAccount(call) };
      const work = () => waitForResult(handler.handle(input, context), context.mostMs);
      const result = await this.parts.services.cache.readResult(cacheable, work);
      const duration_ms = Math.round(performance.now() - startedAt);
      const plan = mayChangeFiles(tool, call) ? await this.plans.changeIn(call.thread_id, sandbox) : undefined;
      return { how: 'answered', result, duration_ms, ...(plan && { plan }) };
    } catch (error) {
      const reply = await this.answerToFailure(error, call, listeners.signal);
      if (reply.how !== 'stopped') return reply;
      return { ...reply, duration_ms: Math.round(performance.now() - startedAt) };
    } finally {
      frames.close();
    }
  }

  private async answerToFailure(error: unknown, call: DispatchedCall, signal: AbortSignal): Promise<ToolReply> {
    if (error instanceof InputRequired) return { ...toFailure(error.message), input_required: error.required };
    if (error instanceof CallsRequested) return { ...toFailure(error.message), calls: [...error.requests] };
    if (error instanceof TaskCreated) return { ...toFailure(error.message), task: error.task };
    const isUnknown = error instanceof OutcomeUnknown;
    const wasStopped = signal.aborted && !(signal.reason instanceof ExecutorClosing);
    if (isUnknown && !wasStopped)
      return { how: 'unknown', reason: error.message, ...(error.isTaskLost && { is_lost: true }) };
    if (isUnknown || (signal.aborted && error === signal.reason)) return this.answerToAbort(call, signal.reason);
    if (error instanceof SandboxError) return answerToSandbox(error);

    this.parts.log.error(
      { callId: call.call_id, runId: call.run_id, name: call.name, error },
      'tool call failed unexpectedly',
    );
    const full = toFullDisk(error);
    return full
      ? toFailure(full.message)
      : toFailure('The tool failed for a reason of its own. Trying the same again is unlikely to help.');
  }

  /** Kills once more, so that the answer reports a death that was verified (I7). */
  private async answerToAbort(call: DispatchedCall, reason: unknown): Promise<ToolReply> {
    const verifiedDeadAt = await this.parts.sandboxes
      .get(call.thread_id)
      .then((sandbox) => sandbox.kill(call.call_id))
      .then(
        (termination) => termination.verifiedDeadAt,
        () => null, // The death could not be verified, and the receipt says so.
      );
    if (!(reason instanceof ExecutorClosing)) return { how: 'stopped', verified_dead_at: verifiedDeadAt };
    if (verifiedDeadAt === null)
      return { how: 'unknown', reason: 'The executor was shut down while the tool ran, and did not see it end.' };
    return toFailure(
      'The executor was shut down while the tool ran, and killed it. Parts of it may have taken effect.',
    );
  }
}

const noSecrets =
  'sandboxes here can use none: their provider is daytona, they are not isolated, or this executor has no SECRETS_KEY.';

const noSkills = 'sandboxes here can have none: their provider is daytona, or they are not isolated.';

const runsCommands = ({ group }: ToolDefinition, { mcp }: DispatchedCall): boolean =>
  group === 'shell' || group === 'code' || mcp?.server.transport === 'stdio';

const usesFiles = ({ group }: ToolDefinition): boolean => group === 'shell' || group === 'code' || group === 'files';

const mayChangeFiles = (tool: ToolDefinition, { effect_class }: DispatchedCall): boolean =>
  effect_class !== 'pure' && usesFiles(tool);

function prepare(call: DispatchedCall, mcp: ToolRunnerParts['mcp']): PreparedCall | ToolResult {
  const { name, arguments: given } = call;
  if (call.mcp) return { ...mcp.createTool(call, call.mcp), input: given }; // by the schema that its server has
  const handled = toolHandlerFor(name);
  if (!handled) return toFailedResult(`There is no tool named "${name}" here. Tools: ${handledToolNames.join(', ')}.`);

  const parsed = handled.tool.input.safeParse(given);
  if (!parsed.success) return toFailedResult(explainArguments(handled.tool, parsed.error, given));
  return { ...handled, input: parsed.data };
}

/** Ends before the worker's own deadline: a call that never began must not be reported as unknown. */
const longestWaitMs = ({ timeout_ms, patience_ms = Infinity }: DispatchedCall): number =>
  Math.min(timeout_ms, patience_ms - slackMs);

async function waitForResult(result: Promise<ExecutorResult>, timeoutMs: number): Promise<ExecutorResult> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const fail = () => reject(new OutcomeUnknown(`The tool did not answer within ${timeoutMs / 1000} s.`));
    timer = setTimeout(fail, timeoutMs + slackMs);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function answerToSandbox(error: SandboxError): ToolReply {
  const { code, message } = error;
  if (error instanceof WorkspaceMoved) return { ...toFailure(message), is_elsewhere: true };
  if (code === 'lost') return { how: 'unknown', reason: 'The sandbox died while the tool ran.' };
  return toFailure(clipMiddle(message, { limit: 4_000 }).text);
}

const toFailure = (error: string): Extract<ToolReply, { how: 'answered' }> => ({
  how: 'answered',
  result: toFailedResult(error),
  duration_ms: 0,
});
