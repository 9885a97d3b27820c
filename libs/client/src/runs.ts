import type {
  AgentResult,
  Answer,
  BudgetRaise,
  EventPage,
  Fact,
  LogVerification,
  NewFork,
  NewRun,
  Run,
  RunWait,
  StreamEvent,
  ToolCall,
  ToolCallResolution,
} from './generated/api.ts';
import {
  type HandledRun,
  type HandledTools,
  type RunOptions,
  type ServeOptions,
  ToolCalls,
  runWithTools,
  serveTools,
} from './caller-tools.ts';
import { RunFailedError, RunStoppedError, RunWaitingError, type StopReceipt } from './errors.ts';
import { itemsOf } from './pages.ts';
import { type StreamOptions, streamRun } from './run-stream.ts';
import type { Transport } from './transport.ts';
import { type LogProof, proveLog } from './verify-run.ts';

export interface Options {
  readonly signal?: AbortSignal;
}

export interface CreateOptions extends Options {
  /** The same request with the same key, within 24 hours, starts nothing and gets the first answer. Default: a new key. */
  readonly idempotencyKey?: string;
  /** Are uploaded with the request. The key then stands for their names and bytes. */
  readonly attachments?: readonly File[];
}

export interface ListRuns {
  readonly status?: Run['status'];
  readonly thread_id?: string;
  readonly agent_id?: string;
  readonly project_id?: string;
  /** Words that the input has. */
  readonly q?: string;
  /** Runs that calls of `run_agent` of this run have started. */
  readonly parent_run_id?: string;
  /** Items per page. */
  readonly limit?: number;
}

/** A run that has ended because it was stopped. If it had ended before in another way, there is no receipt. */
export interface StoppedRun {
  readonly run: Run;
  readonly receipt: StopReceipt | null;
}

const over: readonly Run['status'][] = ['completed', 'failed', 'stopped'];
const isOver = ({ status }: Run): boolean => over.includes(status);
const isWaiting = ({ status }: Run): boolean =>
  status === 'waiting_input' || status === 'waiting_budget' || status === 'waiting_tool';

const factsPerPage = 500;

/** The runs of an account. */
export class Runs {
  private readonly calls: ToolCalls;

  constructor(private readonly transport: Transport) {
    this.calls = new ToolCalls(transport);
  }

  /**
   * Starts a run whose tools this program runs, follows it, and resolves to its result. Rejects as `result` does, and with
   * RunWaitingError where it waits for a person and there is no `onWaiting`.
   */
  run(request: HandledRun, options: RunOptions = {}): Promise<AgentResult> {
    return runWithTools({ runs: this, toolCalls: this.calls }, request, options);
  }

  /** Follows a run to its end, and runs these tools when the model calls them: for a run that another program started. */
  serve(id: string, tools: HandledTools, options: ServeOptions = {}): Promise<void> {
    return serveTools({ runs: this, toolCalls: this.calls }, { id, tools }, options);
  }

  create(run: NewRun, { signal, idempotencyKey, attachments = [] }: CreateOptions = {}): Promise<Run> {
    const body = attachments.length === 0 ? { json: run } : { content: formOf(run, attachments) };
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.transport.json({ method: 'POST', path: '/v1/runs', ...body, headers, signal });
  }

  get(id: string, { signal }: Options = {}): Promise<Run> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Starts a run that begins with the log of this one. */
  fork(id: string, json: NewFork, { signal }: Options = {}): Promise<Run> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/fork`, json, signal });
  }

  /** What the run waits for, as of one moment. */
  why(id: string, { signal }: Options = {}): Promise<RunWait> {
    return this.transport.json({ path: `${pathOf(id)}/why`, signal });
  }

  /** Newest first. */
  list(query: ListRuns = {}): AsyncGenerator<Run, void> {
    return itemsOf(this.transport, '/v1/runs', { ...query });
  }

  /** The events of a run until its end, over as many connections as it takes. See `streamRun`. */
  stream(id: string, options: StreamOptions = {}): AsyncGenerator<StreamEvent, void> {
    return streamRun(this.transport, id, options);
  }

  /** The facts that the log has now, in order. */
  async *facts(
    id: string,
    { after = 0, signal }: Options & { readonly after?: number } = {},
  ): AsyncGenerator<Fact, void> {
    let [last, head] = [after, Infinity];
    while (last < head) {
      const query = { after: last, limit: factsPerPage };
      const page: EventPage = await this.transport.json({ path: `${pathOf(id)}/events`, query, signal });
      yield* page.data;
      last = page.data.at(-1)?.seq ?? page.head_seq;
      head = page.head_seq;
    }
  }

  /** Resolves when the run has ended, or waits for a person or for results of its caller. */
  async wait(id: string, { signal }: Options = {}): Promise<Run> {
    for (;;) {
      const run: Run = await this.transport.json({ path: `${pathOf(id)}/wait`, query: { timeout_s: 30 }, signal });
      if (isOver(run) || isWaiting(run)) return run;
    }
  }

  /** Waits for the result. Rejects with RunFailedError, RunStoppedError or RunWaitingError where there is none. */
  async result(id: string, { signal }: Options = {}): Promise<AgentResult> {
    const run = await this.wait(id, signal && { signal });
    if (isWaiting(run)) throw new RunWaitingError(run, run.waiting?.question);
    if (run.status === 'stopped') throw new RunStoppedError(run, await this.receiptOf(run));
    const result: AgentResult = await this.transport.json({ path: `${pathOf(id)}/result`, signal });
    if (run.error) throw new RunFailedError(run, run.error, result);
    return result;
  }

  /** Stops the run, and waits until everything of it has ended. */
  async stop(id: string, { reason, signal }: Options & { readonly reason?: string } = {}): Promise<StoppedRun> {
    const json = reason === undefined ? {} : { reason };
    let run: Run = await this.transport.json({ method: 'POST', path: `${pathOf(id)}/stop`, json, signal });
    while (!isOver(run)) run = await this.wait(id, signal && { signal });
    return { run, receipt: await this.receiptOf(run) };
  }

  /** Answers a run that waits, and resumes it. It gets the uploaded files with these ids. */
  answer(
    id: string,
    content: Answer['content'],
    { files, signal }: Options & { readonly files?: string[] } = {},
  ): Promise<Run> {
    const json: Answer = files === undefined ? { content } : { content, files };
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/input`, json, signal });
  }

  /** Raises the budget to these amounts, and resumes a run that waits for it. */
  raiseBudget(id: string, budget: BudgetRaise, { signal }: Options = {}): Promise<Run> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/budget`, json: budget, signal });
  }

  /** The tool calls of the run, from the effect ledger. */
  toolCalls(id: string): AsyncGenerator<ToolCall, void> {
    return itemsOf(this.transport, `${pathOf(id)}/tool-calls`);
  }

  /** Decides about a call with an unknown outcome. */
  resolve(toolCallId: string, resolution: ToolCallResolution, { signal }: Options = {}): Promise<ToolCall> {
    const path = `/v1/tool-calls/${encodeURIComponent(toolCallId)}/resolve`;
    return this.transport.json({ method: 'POST', path, json: resolution, signal });
  }

  /** What the gateway says of its log: how many facts it has, and their hash. `proveLog` compares a reader's facts with it. */
  verification(id: string, { signal }: Options = {}): Promise<LogVerification> {
    return this.transport.json({ path: `${pathOf(id)}/events/verify`, signal });
  }

  /** Reads the whole log, computes its hash here, and compares it with the gateway's. */
  async verify(id: string, { signal }: Options = {}): Promise<LogProof> {
    const gateway = await this.verification(id, signal && { signal });
    const after = gateway.trimmed?.through ?? 0;
    return proveLog(gateway, this.facts(id, { after, ...(signal && { signal }) }));
  }

  /** The last fact says how the run ended. */
  private async receiptOf({ id, last_seq: lastSeq }: Run): Promise<StopReceipt | null> {
    for await (const fact of this.facts(id, { after: lastSeq - 1 })) {
      if (fact.type === 'run.stopped') return fact.data.receipt;
    }
    return null;
  }
}

const pathOf = (id: string): string => `/v1/runs/${encodeURIComponent(id)}`;

function formOf({ input, ...rest }: NewRun, files: readonly File[]): FormData {
  const form = new FormData();
  if (typeof input === 'string') form.set('input', input);
  form.set('body', JSON.stringify(typeof input === 'string' ? rest : { input, ...rest }));
  for (const file of files) form.append('files', file);
  return form;
}
