import type { DeltaEvent, FactWithType, FinishReason, RecordedFact, Waiting } from '@rondo/contract';
import { deltaText, listStoredTexts, toStream } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { describeShortEnd, describeWait, isQuestion, readClosingWords } from '../run-answer';
import { isSilent } from '../silent-facts';

/** A frame of the UI message stream, version 1. */
export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface TranslatorOptions {
  /** Tools whose calls the client answers. */
  readonly callerTools: ReadonlySet<string>;
  /** The client knows frames of approvals. */
  readonly approvals: boolean;
  /** The client knows `reset-step`. */
  readonly resets: boolean;
  /** Waits up to this seq are over. */
  readonly waitedThrough: number;
}

interface OpenPart {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
  readonly stream: string;
}

const finishReasons: Partial<Record<FinishReason, string>> = {
  stop: 'stop',
  complete: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  ask: 'tool-calls',
  error: 'error',
};

/** Why a run waits, where the client can end the wait with its next message. */
const answeredByClient: ReadonlySet<Waiting['reason']> = new Set(['ask', 'caller_tools', 'approval']);

/**
 * Turns the events of a run, in their order, into frames. It has no clock and reads nothing: the same facts give the same frames,
 * whatever pieces the deltas between them come in.
 */
export class AiSdkTranslator {
  private part: OpenPart | undefined;
  private isStepOpen = false;
  private restarts = 0;
  private closing: string | undefined;
  private readonly sent = new Map<string, number>();
  private readonly calls = new Map<string, { readonly name: string; isPlanned: boolean }>();
  private readonly denied = new Set<string>();
  /** Nothing follows. */
  isOver = false;

  constructor(private readonly options: TranslatorOptions) {}

  translate(event: SubscriberEvent): Frame[] {
    if (this.isOver) return [];
    if (event.type === 'stream.snapshot') return [];
    if (isNotice(event)) return this.fail('Events of this run have been deleted, so it cannot be shown here.');
    return event.seq === null ? this.translateDelta(event) : this.translateFact(event);
  }

  private translateDelta(delta: DeltaEvent): Frame[] {
    if (delta.type === 'tool.output') return [];
    if (delta.type === 'tool.call_delta') return this.showArguments(delta);
    const stream = toStream(delta);
    const shown = this.sent.get(stream) ?? 0;
    if (delta.offset > shown) return []; // its fact has the whole text
    const kind = delta.type === 'message.delta' ? 'text' : 'reasoning';
    return this.say({ kind, id: delta.stream_id, stream }, deltaText(delta).slice(shown - delta.offset));
  }

  private translateFact(fact: RecordedFact): Frame[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'iteration.started':
        return this.beginStep();
      case 'iteration.restarted':
        return this.restart(fact.data.withdrawn_stream_ids);
      case 'iteration.completed':
        return this.endStep();
      case 'message.created':
        return fact.data.message.type === 'user' ? this.showAnswer(fact.data.message) : this.showRest(fact);
      case 'tool.planned':
        return this.plan(fact.data.tool_call);
      case 'approval.requested':
        return this.options.approvals
          ? [{ type: 'tool-approval-request', approvalId: fact.data.approval_id, toolCallId: fact.data.tool_call_id }]
          : [];
      case 'approval.decided':
        if (fact.data.outcome === 'deny' || fact.data.outcome === 'expire') this.denied.add(fact.data.tool_call_id);
        return [];
      case 'tool.completed':
      case 'tool.failed':
        return this.showResult(fact.data);
      case 'tool.unknown':
        return fact.data.message_id === undefined
          ? []
          : [{ type: 'tool-output-error', toolCallId: fact.data.tool_call_id, errorText: fact.data.reason }];
      case 'run.waiting':
        return fact.seq <= this.options.waitedThrough ? [] : this.wait(fact);
      case 'run.completed':
        return this.complete(fact);
      case 'run.stopped':
        return this.end({ type: 'abort' });
      case 'run.failed':
        return this.fail(fact.data.error.message);
      case 'run.started':
      case 'run.resumed':
      case 'run.stop_requested':
      case 'model.retried':
      case 'model.fell_back':
      case 'usage.recorded':
      case 'tool.started':
      case 'context.compacted':
        return [];
    }
  }

  /** What no frame of the protocol says is said by one of ours, which every generation of clients knows as data. */
  private wait({ id, run_id, data }: FactWithType<'run.waiting'>): Frame[] {
    const { reason } = data;
    if (reason === 'child_runs') return [];
    const isSaid = reason === 'ask' || reason === 'caller_tools' || (reason === 'approval' && this.options.approvals);
    const said: Frame = { type: 'data-waiting', id, data: { run_id, message: describeWait(data), ...data } };
    const frames = isSaid ? [] : [...this.endPart(), said];
    return [...frames, ...this.finish(answeredByClient.has(reason) ? 'tool-calls' : 'other')];
  }

  private complete({ run_id: runId, data }: FactWithType<'run.completed'>): Frame[] {
    const { finish_reason: reason, usage } = data;
    const said = this.sayClosingWords(runId);
    const why = describeShortEnd(reason);
    if (why === undefined) return [...said, ...this.finish(finishReasons[reason] ?? 'other', { usage })];
    return [...said, { type: 'message-metadata', messageMetadata: { usage } }, ...this.fail(why)];
  }

  private beginStep(): Frame[] {
    const frames = this.endStep();
    this.isStepOpen = true;
    return [...frames, { type: 'start-step' }];
  }

  private endStep(): Frame[] {
    const frames = this.endPart();
    if (!this.isStepOpen) return frames;
    this.isStepOpen = false;
    return [...frames, { type: 'finish-step' }];
  }

  /** What was withdrawn is removed where the client can do that. Elsewhere it stays, and what follows has ids of its own. */
  private restart(withdrawn: readonly string[]): Frame[] {
    this.restarts += 1;
    const frames = this.endPart();
    for (const id of withdrawn) {
      for (const type of ['message.delta', 'reasoning.delta', 'tool.call_delta'] as const)
        this.sent.delete(toStream({ type, stream_id: id }));
      const call = this.calls.get(id);
      if (!call || call.isPlanned) continue;
      this.calls.delete(id);
      if (!this.options.resets) frames.push(toWithdrawnCall(id, call.name));
    }
    return this.options.resets ? [...frames, { type: 'reset-step' }] : frames;
  }

  private say({ kind, id, stream }: OpenPart, text: string): Frame[] {
    if (text === '') return [];
    const frames: Frame[] = [];
    const partId = `${id}-${kind}${this.restarts === 0 ? '' : `-${this.restarts}`}`;
    if (this.part?.id !== partId) {
      frames.push(...this.endPart(), { type: `${kind}-start`, id: partId });
      this.part = { kind, id: partId, stream };
    }
    this.sent.set(stream, (this.sent.get(stream) ?? 0) + text.length);
    return [...frames, { type: `${kind}-delta`, id: partId, delta: text }];
  }

  private endPart(): Frame[] {
    const { part } = this;
    this.part = undefined;
    return part ? [{ type: `${part.kind}-end`, id: part.id }] : [];
  }

  /** What no delta has shown of a stored reply. */
  private showRest(fact: RecordedFact): Frame[] {
    const frames = listStoredTexts(fact).flatMap(({ type, stream_id: id, text }) => {
      const stream = toStream({ type, stream_id: id });
      const kind = type === 'message.delta' ? 'text' : 'reasoning';
      return this.say({ kind, id, stream }, text.slice(this.sent.get(stream) ?? 0));
    });
    return [...frames, ...this.endPart()];
  }

  private showArguments(delta: DeltaEvent): Frame[] {
    const { name } = delta.data;
    const [id, stream] = [delta.stream_id, toStream(delta)];
    const frames = typeof name === 'string' ? this.showCall(id, name) : [];
    const shown = this.sent.get(stream) ?? 0;
    const text = delta.offset > shown ? '' : deltaText(delta).slice(shown - delta.offset);
    if (text === '' || !this.calls.has(id)) return frames;
    this.sent.set(stream, shown + text.length);
    return [...frames, { type: 'tool-input-delta', toolCallId: id, inputTextDelta: text }];
  }

  /** Once for each call. `complete` is no tool to the client: it is the last text. */
  private showCall(id: string, name: string): Frame[] {
    if (this.calls.has(id) || name === 'complete') return [];
    this.calls.set(id, { name, isPlanned: false });
    return [
      ...this.endPart(),
      { type: 'tool-input-start', toolCallId: id, toolName: name, ...this.markExecuted(name) },
    ];
  }

  private plan(call: FactWithType<'tool.planned'>['data']['tool_call']): Frame[] {
    const { id: toolCallId, name: toolName, arguments: input } = call;
    this.closing = readClosingWords(call) ?? this.closing;
    const frames = this.showCall(toolCallId, toolName);
    const shown = this.calls.get(toolCallId);
    if (!shown) return frames;
    shown.isPlanned = true;
    return [...frames, { type: 'tool-input-available', toolCallId, toolName, input, ...this.markExecuted(toolName) }];
  }

  /** Without it the client takes a call for its own, and sends the chat again when it has all results. */
  private markExecuted(name: string): { providerExecuted?: true } {
    return this.isOfClient(name) ? {} : { providerExecuted: true };
  }

  private isOfClient(name: string): boolean {
    return isQuestion(name) || this.options.callerTools.has(name);
  }

  private showResult({ tool_call_id: id, name, result }: FactWithType<'tool.completed'>['data']): Frame[] {
    if (name === 'complete' || (isQuestion(name) && result.success)) return [];
    if (this.isOfClient(name) && !this.calls.has(id)) return []; // the client has it: it was its own answer
    const about = { toolCallId: id, ...this.markExecuted(name) };
    if (result.success) return [{ type: 'tool-output-available', ...about, output: result.output }];
    if (this.options.approvals && this.denied.has(id)) return [{ type: 'tool-output-denied', toolCallId: id }];
    return [{ type: 'tool-output-error', ...about, errorText: result.error ?? result.output }];
  }

  /** The answer to a question that this message shows. */
  private showAnswer({ content, metadata }: FactWithType<'message.created'>['data']['message']): Frame[] {
    const id = metadata['answers_tool_call_id'];
    if (typeof id !== 'string' || !this.calls.has(id)) return [];
    const output = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
    return [{ type: 'tool-output-available', toolCallId: id, output }];
  }

  private sayClosingWords(runId: string): Frame[] {
    if (this.closing === undefined) return [];
    const id = `${runId}-answer`;
    const frames = this.endPart();
    return [
      ...frames,
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: this.closing },
      { type: 'text-end', id },
    ];
  }

  private finish(finishReason: string, messageMetadata?: object): Frame[] {
    return this.end({ type: 'finish', finishReason, ...(messageMetadata && { messageMetadata }) });
  }

  private fail(errorText: string): Frame[] {
    return this.end({ type: 'error', errorText });
  }

  private end(last: Frame): Frame[] {
    const frames = this.endStep();
    this.isOver = true;
    return [...frames, last];
  }
}

const toWithdrawnCall = (toolCallId: string, toolName: string): Frame => ({
  type: 'tool-input-error',
  toolCallId,
  toolName,
  input: {},
  errorText: 'The reply with this call was withdrawn.',
  providerExecuted: true,
});
