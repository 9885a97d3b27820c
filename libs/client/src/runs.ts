import type { AgentResult, Answer, EventPage, Fact, NewRun, Run, StreamEvent } from './generated/api.ts';
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
import * as routes from './generated/routes.ts';
import { isOver } from './run-ending.ts';
import { type CreateOptions, type ListQuery, type Options, Resource } from './resource.ts';
import { type StreamOptions, streamGroups } from './run-stream.ts';
import { type LogProof, proveLog } from './verify-run.ts';

export type ListRuns = ListQuery<routes.ListRunsQuery>;

/** A run that has ended because it was stopped. If it had ended before in another way, there is no receipt. */
export interface StoppedRun {
  readonly run: Run;
  readonly receipt: StopReceipt | null;
}

const isWaiting = ({ status }: Run): boolean =>
  status === 'waiting_input' || status === 'waiting_budget' || status === 'waiting_tool';

const factsPerPage = 500;

/** The runs of an account. */
export class Runs extends Resource {
  readonly get = this.send(routes.getRun);
  /** Starts a run that begins with the log of this one. */
  readonly fork = this.send(routes.forkRun);
  /** Asks what the run was asked once more, on the same thread. */
  readonly retry = this.send(routes.retryRun);
  /** What a return of the files to a point of the run would change, and what it cannot undo. */
  readonly rewindPreview = this.send(routes.previewRewind);
  /** What the run waits for, as of one moment. */
  readonly why = this.send(routes.explainRun);
  /** Newest first. */
  readonly list = this.pages(routes.listRuns);
  /** How many runs there are of each status. */
  readonly count = this.send(routes.countRuns);
  /** Raises the budget to these amounts, and resumes a run that waits for it. */
  readonly raiseBudget = this.send(routes.raiseBudget);
  /** The tool calls of the run, from the effect ledger. */
  readonly toolCalls = this.pages(routes.listRunToolCalls);
  /** Decides about a call with an unknown outcome. */
  readonly resolve = this.send(routes.resolveToolCall);
  /** Answers what an MCP server asks during a call: the content of a form, or that the page is open. */
  readonly giveInput = this.send(routes.giveToolCallInput);
  /** What the gateway says of its log: how many facts it has, and their hash. `proveLog` compares a reader's facts with it. */
  readonly verification = this.send(routes.verifyRunEvents);
  private readonly calls = new ToolCalls(this.transport);
  private readonly events = this.send(routes.listRunEvents);

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
    const body = attachments.length === 0 ? { json: run } : { content: toForm(run, attachments) };
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.transport.json({ ...routes.createRun, ...body, headers, signal });
  }

  /** The events of a run until its end, over as many connections as it takes. See `streamGroups`. */
  async *stream(id: string, options: StreamOptions = {}): AsyncGenerator<StreamEvent, void> {
    for await (const events of this.streamGroups(id, options)) yield* events;
  }

  /** The same in groups of events that arrive together: to await each one of a long log takes a seventh of reading it. */
  streamGroups(id: string, options: StreamOptions = {}): AsyncGenerator<readonly StreamEvent[], void> {
    return streamGroups(this.transport, id, options);
  }

  /** The facts that the log has now, in order. */
  async *facts(
    id: string,
    { after = 0, signal }: Options & { readonly after?: number } = {},
  ): AsyncGenerator<Fact, void> {
    let [last, head] = [after, Infinity];
    while (last < head) {
      const page: EventPage = await this.events(id, { after: last, limit: factsPerPage }, { signal });
      yield* page.data;
      last = page.data.at(-1)?.seq ?? page.head_seq;
      head = page.head_seq;
    }
  }

  /** Resolves when the run has ended, or waits for a person or for results of its caller. */
  async wait(id: string, options: Options = {}): Promise<Run> {
    for (;;) {
      const run = await this.send(routes.waitForRun)(id, { timeout_s: 30 }, options);
      if (isOver(run) || isWaiting(run)) return run;
    }
  }

  /** Waits for the result. Rejects with RunFailedError, RunStoppedError or RunWaitingError where there is none. */
  async result(id: string, options: Options = {}): Promise<AgentResult> {
    const run = await this.wait(id, options);
    if (isWaiting(run)) throw new RunWaitingError(run, run.waiting?.question);
    if (run.status === 'stopped') throw new RunStoppedError(run, await this.findReceipt(run));
    const result = await this.send(routes.getRunResult)(id, options);
    if (run.error) throw new RunFailedError(run, run.error, result);
    return result;
  }

  /** Stops the run, and waits until everything of it has ended. With an `error` it ends as failed. */
  async stop(
    id: string,
    { signal, ...words }: Options & { readonly reason?: string; readonly error?: string } = {},
  ): Promise<StoppedRun> {
    let run = await this.send(routes.stopRun)(id, words, { signal });
    while (!isOver(run)) run = await this.wait(id, { signal });
    return { run, receipt: await this.findReceipt(run) };
  }

  /** Answers a run that waits, and resumes it. It gets the uploaded files with these ids. */
  answer(
    id: string,
    content: Answer['content'],
    { files, signal }: Options & { readonly files?: string[] } = {},
  ): Promise<Run> {
    return this.send(routes.answerRun)(id, files === undefined ? { content } : { content, files }, { signal });
  }

  /** Reads the whole log, computes its hash here, and compares it with the gateway's. */
  async verify(id: string, { signal }: Options = {}): Promise<LogProof> {
    const gateway = await this.verification(id, { signal });
    return proveLog(gateway, this.facts(id, { after: gateway.trimmed?.through ?? 0, signal }));
  }

  /** The last fact says how the run ended. */
  private async findReceipt({ id, last_seq: lastSeq }: Run): Promise<StopReceipt | null> {
    for await (const fact of this.facts(id, { after: lastSeq - 1 })) {
      if (fact.type === 'run.stopped' || fact.type === 'run.failed') return fact.data.receipt ?? null;
    }
    return null;
  }
}

function toForm({ input, ...rest }: NewRun, files: readonly File[]): FormData {
  const form = new FormData();
  if (typeof input === 'string') form.set('input', input);
  form.set('body', JSON.stringify(typeof input === 'string' ? rest : { input, ...rest }));
  for (const file of files) form.append('files', file);
  return form;
}
