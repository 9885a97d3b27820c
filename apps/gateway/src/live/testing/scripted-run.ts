import {
  type DeltaEvent,
  type DeltaType,
  type FactType,
  type Message,
  type RecordedFact,
  type Run,
  type RunEvent,
  accountId,
  deltaTextKey,
  eventId,
  messageId,
  noUsage,
  runId,
  threadId,
} from '@rondo/contract';

const at = '2026-01-01T00:00:00.000Z';

/** A run driven by the spec: its log as Postgres has it, and its events as they are published. */
export class ScriptedRun {
  readonly accountId = accountId.parse('acc_1');
  readonly runId = runId.parse('run_1');
  readonly threadId = threadId.parse('thr_1');
  readonly log: RecordedFact[] = [];
  private events = 0;
  private messages = 1;
  private texts: Record<'message.delta' | 'reasoning.delta', { text: string; since: number }> | undefined;

  constructor() {
    this.fact('run.created', { profile: 'suna', model: 'demo/coder' });
  }

  get address() {
    return { accountId: this.accountId, runId: this.runId };
  }

  /** The run as REST shows it; only what subscriptions use. */
  get run(): Run {
    return { id: this.runId, thread_id: this.threadId, last_seq: this.log.length, epoch: 1 } as Run;
  }

  streamText(text: string): DeltaEvent {
    return this.delta('message.delta', text);
  }

  streamReasoning(text: string): DeltaEvent {
    return this.delta('reasoning.delta', text);
  }

  appendFact(): RecordedFact {
    return this.fact('iteration.completed', { iteration: 1, finish_reason: 'tool_calls' });
  }

  /** Stores the open message. */
  finishMessage(): RecordedFact {
    const text = this.texts?.['message.delta'].text ?? '';
    const stored = this.fact('message.created', { message: this.messageWith(text) });
    this.forgetMessage();
    return stored;
  }

  restart(): RecordedFact {
    const withdrawn_stream_ids = [this.streamId];
    const fact = this.fact('iteration.restarted', { iteration: 1, message_id: this.messageId, withdrawn_stream_ids });
    this.forgetMessage();
    return fact;
  }

  complete(): RecordedFact {
    return this.fact('run.completed', { finish_reason: 'stop', usage: noUsage });
  }

  /** What the worker answers to `runs.live`. */
  openStreams(): DeltaEvent[] {
    return Object.entries(this.texts ?? {})
      .filter(([, { text }]) => text !== '')
      .map(([type, { text, since }]) => this.event(type as DeltaType, { text, offset: 0, since })); // its own keys
  }

  private get streamId(): string {
    return this.messageId;
  }

  private get messageId() {
    return messageId.parse(`msg_${this.messages}`);
  }

  private forgetMessage(): void {
    this.texts = undefined;
    this.messages += 1;
  }

  private delta(type: 'message.delta' | 'reasoning.delta', text: string): DeltaEvent {
    this.texts ??= {
      'message.delta': { text: '', since: this.log.length },
      'reasoning.delta': { text: '', since: this.log.length },
    };
    const offset = this.texts[type].text.length;
    this.texts[type].text += text;
    return this.event(type, { text, offset, since: this.log.length });
  }

  private event(type: DeltaType, { text, offset, since }: { text: string; offset: number; since: number }): DeltaEvent {
    return {
      ...this.envelope(),
      seq: null,
      type,
      after_seq: since,
      stream_id: this.streamId,
      offset,
      data: { [deltaTextKey(type)]: text },
    };
  }

  private fact<Type extends FactType>(type: Type, data: Extract<RecordedFact, { type: Type }>['data']): RecordedFact {
    const fact = { ...this.envelope(), seq: this.log.length + 1, type, data } as RecordedFact; // type and data belong together
    this.log.push(fact);
    return fact;
  }

  private envelope() {
    this.events += 1;
    const id = eventId.parse(`evt_${this.events}`);
    return { id, v: 1 as const, run_id: this.runId, thread_id: this.threadId, iteration: 1, epoch: 1, at };
  }

  private messageWith(text: string): Message {
    return {
      id: this.messageId,
      thread_id: this.threadId,
      run_id: this.runId,
      iteration: 1,
      seq: this.messages,
      type: 'assistant',
      is_llm_message: true,
      content: [{ type: 'text', text }],
      metadata: {},
      created_at: at,
    };
  }
}

/** A client that records each gap, overlap and contradiction. */
export class StrictClient {
  readonly violations: string[] = [];
  readonly messages: string[] = [];
  ended = false;
  private streams = new Map<string, string>();

  constructor(public seq = 0) {}

  /** The text received of the open message. */
  get openText(): string {
    return [...this.streams].find(([name]) => name.endsWith('message.delta'))?.[1] ?? '';
  }

  /** After a lost connection it has its facts, and no open stream. */
  reconnect(): void {
    this.streams = new Map();
  }

  receive(event: RunEvent): void {
    if (event.seq === null) this.read(event);
    else this.learn(event);
  }

  private read(delta: DeltaEvent): void {
    const name = `${delta.stream_id} ${delta.type}`;
    const known = this.streams.get(name) ?? '';
    if (delta.offset !== known.length) this.violations.push(`${name}: has ${known.length}, got ${delta.offset}`);
    if (delta.after_seq > this.seq) this.violations.push(`${name}: a delta came before fact ${delta.after_seq}`);
    this.streams.set(name, known + String(delta.data[deltaTextKey(delta.type)]));
  }

  private learn(fact: RecordedFact): void {
    if (fact.seq !== this.seq + 1) this.violations.push(`has seq ${this.seq}, got ${fact.seq}`);
    this.seq = fact.seq;
    this.ended = fact.type === 'run.completed';
    if (fact.type === 'iteration.restarted') this.streams = new Map();
    if (fact.type !== 'message.created') return;

    const [block] = fact.data.message.content;
    const text = block?.type === 'text' ? block.text : '';
    if (fact.data.message.type === 'assistant' && this.openText !== '' && text !== this.openText)
      this.violations.push(`read "${this.openText}" of "${text}"`);
    this.messages.push(text);
    this.streams = new Map();
  }
}
