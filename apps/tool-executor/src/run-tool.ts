import { type ExecutorResult, type ToolResult, failedResult } from '@rondo/contract';
import { explainArguments } from '@rondo/domain';
import { type DispatchedCall, type ToolReply, accountOf } from '@rondo/messaging';
import { clipMiddle } from './clip-text';
import { OutcomeUnknown } from './tools/tool-handler';
import { type HandledTool, handledToolNamed, handledToolNames } from './tools/tool-handlers';
import { KeyedMutex } from './keyed-mutex';
import { OutputFrames } from './output-frames';
import { type EgressGate, type Sandbox, SandboxError, type SandboxProvider } from './sandboxes';
import type { SandboxSlots } from './sandboxes/sandbox-slots';

/** The sandbox keeps a command's time itself; this is what it may need beyond it to kill and report. */
const slackMs = 10_000;

export interface ToolLog {
  debug(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface CallWatch {
  /** Aborted when the call's run is stopped, or with `ExecutorLeaving` when this process is. */
  readonly signal: AbortSignal;
  readonly output: (text: string) => void;
}

/** Why calls are aborted that nobody has stopped. */
export class ExecutorLeaving extends Error {
  override readonly name = 'ExecutorLeaving';
}

type Prepared = HandledTool & { readonly input: unknown };

interface Job {
  readonly call: DispatchedCall;
  readonly watch: CallWatch;
  readonly sandbox: Sandbox;
  readonly egress: EgressGate;
}

/**
 * Runs one call and answers it, whatever happens: what goes wrong is a result for the model (TR8). Only where nobody can
 * say whether it took effect the answer is `unknown` (I5): the sandbox was lost under it, or its hand says so. What is
 * made of that, another attempt or a word to the model, is for the loop to decide by the call's effect class.
 */
export class ToolRunner {
  private readonly lanes = new KeyedMutex();

  constructor(
    private readonly sandboxes: Pick<SandboxProvider, 'get' | 'egressOf'>,
    private readonly places: Pick<SandboxSlots, 'hold'>,
    private readonly log: ToolLog,
  ) {}

  async run(call: DispatchedCall, watch: CallWatch): Promise<ToolReply> {
    const startedAt = performance.now();
    const reply = await this.answer(call, watch);
    const durationMs = Math.round(performance.now() - startedAt);
    const { call_id: callId, run_id: runId, thread_id: threadId, name } = call;
    this.log.debug({ callId, runId, threadId, name, durationMs, how: reply.how }, 'tool call answered');
    return reply;
  }

  private async answer(call: DispatchedCall, watch: CallWatch): Promise<ToolReply> {
    const prepared = prepare(call);
    if ('success' in prepared) return { how: 'answered', result: prepared, duration_ms: 0 };

    try {
      watch.signal.throwIfAborted();
      return await this.inPlace(prepared, call, watch);
    } catch (error) {
      return this.answerToFailure(error, call, watch.signal);
    }
  }

  private async inPlace(prepared: Prepared, call: DispatchedCall, watch: CallWatch): Promise<ToolReply> {
    const user = { account: accountOf(call), thread: call.thread_id };
    const leave = await this.places.hold(user, { signal: watch.signal, timeoutMs: longestWaitMs(call) });
    try {
      const sandbox = await this.sandboxes.get(call.thread_id);
      return await this.inTurn(prepared, { call, watch, sandbox, egress: this.sandboxes.egressOf(call.thread_id) });
    } finally {
      leave();
    }
  }

  private inTurn(prepared: Prepared, job: Job): Promise<ToolReply> {
    const lane = prepared.hand.lane?.(prepared.input);
    if (lane === undefined) return measuredWork(prepared, job);
    return this.lanes.inTurn(`${job.call.thread_id} ${lane}`, job.watch.signal, () => measuredWork(prepared, job));
  }

  private async answerToFailure(error: unknown, call: DispatchedCall, signal: AbortSignal): Promise<ToolReply> {
    const isUnknown = error instanceof OutcomeUnknown;
    const wasStopped = signal.aborted && !(signal.reason instanceof ExecutorLeaving);
    if (isUnknown && !wasStopped) return { how: 'unknown', reason: error.message };
    if (isUnknown || (signal.aborted && error === signal.reason)) return this.answerToAbort(call, signal.reason);
    if (error instanceof SandboxError) return answerToSandbox(error);

    this.log.error(
      { callId: call.call_id, runId: call.run_id, name: call.name, error },
      'tool call failed unexpectedly',
    );
    return failed('The tool failed for a reason of its own. Trying the same again is unlikely to help.');
  }

  /** Asks the sandbox once more, so that what is said to be dead is dead (I7, R26). */
  private async answerToAbort(call: DispatchedCall, reason: unknown): Promise<ToolReply> {
    const verifiedDeadAt = await this.sandboxes
      .get(call.thread_id)
      .then((sandbox) => sandbox.kill(call.call_id))
      .then(
        (termination) => termination.verifiedDeadAt,
        () => null, // Nobody can confirm it, and the receipt says so.
      );
    if (!(reason instanceof ExecutorLeaving)) return { how: 'stopped', verified_dead_at: verifiedDeadAt };
    return failed('The executor was shut down while the tool ran, and killed it. Parts of it may have taken effect.');
  }
}

function prepare({ name, arguments: given }: DispatchedCall): Prepared | ToolResult {
  const ready = handledToolNamed(name);
  if (!ready) return failedResult(`There is no tool named "${name}" here. Tools: ${handledToolNames.join(', ')}.`);

  const parsed = ready.tool.input.safeParse(given);
  if (!parsed.success) return failedResult(explainArguments(ready.tool, parsed.error, given));
  return { ...ready, input: parsed.data };
}

/** Sooner than its worker gives it up: what was not begun is not unknown. */
const longestWaitMs = ({ timeout_ms, expires_at }: DispatchedCall): number =>
  expires_at === undefined ? timeout_ms : Math.min(timeout_ms, Date.parse(expires_at) - Date.now() - slackMs);

/** Whoever sent it has given it up, and a person may have found that it never ran (I5). */
const isExpired = ({ expires_at }: DispatchedCall): boolean =>
  expires_at !== undefined && Date.parse(expires_at) < Date.now();

/** The time it took does not count the wait for its turn. */
async function measuredWork(prepared: Prepared, job: Job): Promise<ToolReply> {
  if (isExpired(job.call)) return failed('Not executed: its turn came too late.');
  const startedAt = performance.now();
  const result = await work(prepared, job);
  return { how: 'answered', result, duration_ms: Math.round(performance.now() - startedAt) };
}

async function work({ tool, hand, input }: Prepared, { call, watch, sandbox, egress }: Job): Promise<ExecutorResult> {
  const timeoutMs = Math.min(tool.timeoutMs, call.timeout_ms);
  const frames = new OutputFrames(watch.output);
  const bench = {
    sandbox,
    egress,
    timeoutMs,
    idempotencyKey: call.call_id,
    runId: call.run_id,
    signal: watch.signal,
    output: (text: string) => frames.push(text),
  };
  try {
    return await withinTime(hand.work(input, bench), timeoutMs);
  } finally {
    frames.close();
  }
}

async function withinTime(result: Promise<ExecutorResult>, timeoutMs: number): Promise<ExecutorResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new OutcomeUnknown(`The tool did not answer within ${timeoutMs / 1000} s.`));
    timer = setTimeout(giveUp, timeoutMs + slackMs);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

function answerToSandbox({ code, message }: SandboxError): ToolReply {
  if (code === 'lost') return { how: 'unknown', reason: 'The sandbox died while the tool ran.' };
  return failed(clipMiddle(message, { limit: 4_000 }).text);
}

const failed = (error: string): ToolReply => ({ how: 'answered', result: failedResult(error), duration_ms: 0 });
