import {
  type ApprovalId,
  type CallId,
  type DeltaEvent,
  type FinishReason,
  type MessageId,
  type NewFact,
  type RecordedFact,
  type RunId,
  toApprovalId,
  callId,
  eventId,
  messageId,
  noUsage,
} from '@rondo/contract';
import type { Claim, PriceFactors } from '@rondo/domain';
import { plannedCall } from '@rondo/domain/testing';
import { type NatsLink, NatsRunFeed, type RunLive, connectNats, signals } from '@rondo/messaging';
import { type Database, PostgresRunStore } from '@rondo/persistence';
import { createLogger, newUlid } from '@rondo/platform';
import { z } from 'zod';
import type { RunningGateway } from './running-gateway';
import { testServer } from './test-server';

const liveRequest = z.object({ id: z.string(), data: signals.live.payload });
const log = createLogger({ name: 'test-worker', level: 'silent' });

interface TestWorkerOptions {
  /** With the balances of accounts, to which the role of a gateway has no right. */
  readonly settlesAt?: PriceFactors;
}

/** A worker without a model: it writes facts to Postgres and then to the feed, and deltas to the feed. */
export class TestWorker {
  private readonly claimed = new Map<string, WorkerRun>();
  private readonly name = `worker-${newUlid()}`;
  private running:
    { readonly link: NatsLink; readonly feed: NatsRunFeed; readonly store: PostgresRunStore } | undefined;
  /** Why it can send no tool calls, as it tells gateways. */
  callsProblem: string | undefined;
  /** The MCP servers that it waits for, as it tells gateways. */
  startingServers: RunLive['starting_servers'];

  private constructor() {
    // Only the methods below make one, since it is of no use before it is connected.
  }

  static async start(database: Database, options: TestWorkerOptions = {}): Promise<TestWorker> {
    const worker = new TestWorker();
    await worker.open(database, options);
    return worker;
  }

  /** Runs while the tests of the gateway's suite run. */
  static forSuite(gateway: RunningGateway): TestWorker {
    const worker = new TestWorker();
    gateway.use(worker, () => worker.open(gateway.database, {}));
    return worker;
  }

  private async open(database: Database, { settlesAt }: TestWorkerOptions): Promise<void> {
    const link = await connectNats({ url: testServer('TEST_NATS_URL'), name: 'test-worker', log });
    const feed = new NatsRunFeed(link);
    const onPromoted = feed.publish.bind(feed);
    const store = new PostgresRunStore({ database, newId: newUlid, settlesAt, onPromoted });
    this.running = { link, feed, store };
    this.answerRequests(link);
  }

  private get started() {
    if (!this.running) throw new Error('the worker has not started');
    return this.running;
  }

  async close(): Promise<void> {
    await this.running?.link.close();
  }

  async claim(runId: RunId): Promise<WorkerRun> {
    const { store, feed } = this.started;
    const claim = await store.claim(runId, this.name);
    if (!claim) throw new Error(`${runId} could not be claimed`);
    const claimed = new WorkerRun(claim, store, feed, claim.log.length);
    this.claimed.set(runId, claimed);
    await claimed.append([{ type: 'run.started', iteration: 0, data: {} }]);
    return claimed;
  }

  /** As Nest's NATS transport would: the text so far of the open message. */
  private answerRequests({ connection }: NatsLink): void {
    connection.subscribe(signals.live.toPattern(this.name), {
      callback: (_, request) => {
        const { id, data } = liveRequest.parse(JSON.parse(request.string()));
        const streams = this.claimed.get(data.run_id)?.openStreams() ?? [];
        const response = { streams, calls_problem: this.callsProblem, starting_servers: this.startingServers };
        request.respond(JSON.stringify({ id, response, isDisposed: true }));
      },
    });
  }
}

/** A run that a test has claimed. */
export class WorkerRun {
  private messageId: MessageId = messageId.parse(`msg_${newUlid()}`);
  /** The texts of stored messages. */
  readonly storedTexts: string[] = [];
  private text = '';
  private textSince = 0;

  constructor(
    readonly claim: Claim,
    private readonly store: PostgresRunStore,
    private readonly feed: NatsRunFeed,
    private lastSeq: number,
  ) {}

  async append(facts: readonly NewFact[], { published = true } = {}): Promise<readonly RecordedFact[]> {
    const recorded = await this.store.append(this.claim, facts);
    this.lastSeq = recorded.at(-1)?.seq ?? this.lastSeq;
    if (published) this.feed.publish(recorded);
    return recorded;
  }

  /** Streams a piece of the message. When it is not `published`, NATS has lost it. */
  streamText(text: string, { published = true } = {}): void {
    const delta: DeltaEvent = {
      id: eventId.parse(`evt_${newUlid()}`),
      v: 1,
      seq: null,
      type: 'message.delta',
      run_id: this.claim.runId,
      thread_id: this.claim.threadId,
      iteration: 1,
      epoch: this.claim.epoch,
      at: new Date().toISOString(),
      after_seq: this.lastSeq,
      stream_id: this.messageId,
      offset: this.text.length,
      data: { text },
    };
    if (this.text === '') this.textSince = this.lastSeq;
    this.text += text;
    if (published) this.feed.publish([delta]);
  }

  openStreams(): RunLive['streams'] {
    if (this.text === '') return [];
    const { messageId: stream_id, text, textSince: after_seq } = this;
    return [{ type: 'message.delta', stream_id, iteration: 1, epoch: this.claim.epoch, after_seq, text, data: {} }];
  }

  /** Stores the open message. */
  async finishMessage(options?: { published: boolean }): Promise<void> {
    const { runId, threadId } = this.claim;
    const message = {
      id: this.messageId,
      thread_id: threadId,
      run_id: runId,
      iteration: 1,
      type: 'assistant' as const,
      is_llm_message: true,
      content: [{ type: 'text' as const, text: this.text }],
      metadata: {},
    };
    await this.append([{ type: 'message.created', iteration: 1, data: { message } }], options);
    this.storedTexts.push(this.text);
    this.messageId = messageId.parse(`msg_${newUlid()}`);
    this.text = '';
  }

  /** Reads the message of a queued run, and begins an iteration with it. */
  async read(text: string, queued_as = ''): Promise<void> {
    const { runId, threadId } = this.claim;
    const message = {
      ...{ id: messageId.parse(`msg_${newUlid()}`), thread_id: threadId, run_id: runId, iteration: null },
      ...{ type: 'user' as const, is_llm_message: true, content: [{ type: 'text' as const, text }] },
      metadata: { queued_as },
    };
    await this.append([
      { type: 'message.created', iteration: 1, data: { message } },
      { type: 'iteration.started', iteration: 2, data: { iteration: 2, message_id: this.messageId } },
    ]);
  }

  async complete({ reason = 'stop', ...options }: { published?: boolean; reason?: FinishReason } = {}): Promise<void> {
    const data = { finish_reason: reason, usage: noUsage };
    await this.append([{ type: 'run.completed', iteration: 1, data }], options);
  }

  /** Ends the run as requested. */
  async stop(reason: string | null = null): Promise<void> {
    const requested_at = new Date().toISOString();
    const nothingRan = { model_aborted_at: null, tools_stopped: [], tokens_after_stop: 0, sandbox_verified_at: null };
    const receipt = { requested_at, ...nothingRan };
    await this.append([{ type: 'run.stopped', iteration: 1, data: { reason, receipt, usage: noUsage } }]);
  }

  /** Starts a call that is not answered. */
  async startCall(): Promise<void> {
    const call = plannedCall({ id: callId.parse(`call_${newUlid()}`), run_id: this.claim.runId, name: 'list_files' });
    const about = { tool_call_id: call.id, name: call.name };
    await this.append([
      { type: 'tool.planned', iteration: 1, data: { tool_call: call } },
      { type: 'tool.started', iteration: 1, data: { ...about, attempt: 1, store: null } },
    ]);
  }

  /** Dispatches an unsafe call whose outcome stays unknown, and waits for its resolution. */
  async park(): Promise<CallId> {
    const call = plannedCall({
      id: callId.parse(`call_${newUlid()}`),
      run_id: this.claim.runId,
      name: 'http_request', // a command may have left processes behind, which only a real worker can end
      arguments: { method: 'POST', url: 'http://example.org/' },
    });
    const about = { tool_call_id: call.id, name: call.name };
    const question = { text: 'Did it take effect?', attachments: [], tool_call_id: call.id };
    await this.append([
      { type: 'tool.planned', iteration: 1, data: { tool_call: call } },
      { type: 'tool.started', iteration: 1, data: { ...about, attempt: 1, store: null } },
      { type: 'tool.unknown', iteration: 1, data: { ...about, reason: 'The executor died while the tool ran.' } },
      { type: 'run.waiting', iteration: 1, data: { reason: 'tool_unknown', question } },
    ]);
    return call.id;
  }

  /** Plans calls that need approval, and waits for it. Resolves to their approvals. */
  async requestApprovals(count = 1, expiresAt = new Date(Date.now() + 3_600_000)): Promise<ApprovalId[]> {
    const calls = Array.from({ length: count }, (_, index) =>
      plannedCall({
        id: callId.parse(`call_${newUlid()}`),
        run_id: this.claim.runId,
        index,
        name: 'execute_command',
        arguments: { command: 'make', blocking: true },
      }),
    );
    const approvals = calls.map(({ id, name }) => ({
      approval_id: toApprovalId(id),
      tool_call_id: id,
      name,
      requested_at: new Date().toISOString(),
      expires_at: expiresAt.toISOString(),
    }));
    await this.append([
      { type: 'iteration.started', iteration: 1, data: { iteration: 1, message_id: this.messageId } },
      ...calls.map((call) => ({ type: 'tool.planned' as const, iteration: 1, data: { tool_call: call } })),
      ...approvals.map((data) => ({ type: 'approval.requested' as const, iteration: 1, data })),
      { type: 'run.waiting', iteration: 1, data: { reason: 'approval', approvals } },
    ]);
    return approvals.map(({ approval_id: id }) => id);
  }

  /** Sends calls of tools to their caller, and waits for the results. The run must have these tools. */
  async askCaller(names: readonly string[], { expiresAt = new Date(Date.now() + 3_600_000) } = {}): Promise<CallId[]> {
    const calls = names.map((name, index) =>
      plannedCall({ id: callId.parse(`call_${newUlid()}`), run_id: this.claim.runId, index, name, arguments: {} }),
    );
    const requested_at = new Date().toISOString();
    const expires_at = expiresAt.toISOString();
    const tool_calls = calls.map(({ id, name }) => ({ tool_call_id: id, name, requested_at, expires_at }));
    await this.append([
      { type: 'iteration.started', iteration: 1, data: { iteration: 1, message_id: this.messageId } },
      ...calls.map((call) => ({ type: 'tool.planned' as const, iteration: 1, data: { tool_call: call } })),
      ...calls.map(({ id, name }) => ({
        type: 'tool.started' as const,
        iteration: 1,
        data: { tool_call_id: id, name, attempt: 1, store: null },
      })),
      { type: 'run.waiting', iteration: 1, data: { reason: 'caller_tools', tool_calls } },
    ]);
    return calls.map(({ id }) => id);
  }

  /** Asks a question and waits for the answer. */
  async ask(text: string): Promise<void> {
    const question = { text, attachments: [], tool_call_id: 'call_1' };
    await this.append([{ type: 'run.waiting', iteration: 1, data: { reason: 'ask', question } }]);
  }
}
