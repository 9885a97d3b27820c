import { failed } from './decide';
import type { DecodedReply, ReplyPiece } from './dialects/dialect';
import { type MessageId, callIdAt } from './ids';
import type { NewMessage } from './message';
import type { ModelEnd } from './model';
import type { Pass } from './pass';
import { noUsage } from './run';
import { planCalls } from './plan-calls';
import type { Delta, NewFact } from './run-event';

/** One reply while it arrives. */
export class Reply {
  private readonly beganAt: number;
  private firstOutputAt: number | undefined;

  constructor(
    private readonly pass: Pass,
    private readonly messageId: MessageId,
  ) {
    this.beganAt = this.time();
  }

  show(piece: ReplyPiece): Delta {
    this.firstOutputAt ??= this.time();
    if (this.pass.signals.stop.aborted) this.pass.receipt.outputAfterStop(piece.text);
    if (piece.type === 'call_arguments') {
      const streamId = callIdAt(this.messageId, piece.index);
      return { type: 'tool.call_delta', streamId, text: piece.text, name: piece.name };
    }
    return {
      type: piece.type === 'text' ? 'message.delta' : 'reasoning.delta',
      streamId: this.messageId,
      text: piece.text,
    };
  }

  /** The facts that a reply leaves behind, by how it ended. */
  conclude(end: ModelEnd, decoded: DecodedReply): NewFact[] {
    switch (end.how) {
      case 'finished':
        return isEmpty(decoded)
          ? this.usage(end)
          : [this.spoken(decoded, false), ...this.usage(end), ...this.calls(decoded)];
      case 'aborted':
        this.pass.receipt.modelAborted(this.pass.ports.clerk.now());
        return [...this.shown(decoded), ...this.usage(end)];
      case 'broken':
        return this.usage(end);
      case 'failed':
        return [...this.shown(decoded), ...this.usage(end), failed(this.pass, end.error)];
    }
  }

  /** Text that was shown is kept, also when the rest never came; calls that were not complete are not. */
  private shown(decoded: DecodedReply): NewFact[] {
    return decoded.content.length > 0 ? [this.spoken({ ...decoded, calls: [] }, true)] : [];
  }

  private spoken(decoded: DecodedReply, partial: boolean): NewFact {
    const { run, state } = this.pass;
    const message: NewMessage = {
      id: this.messageId,
      thread_id: run.threadId,
      run_id: run.id,
      iteration: state.iteration,
      type: 'assistant',
      is_llm_message: true,
      content: [...decoded.content, ...decoded.calls.map((call) => this.callBlock(call))],
      metadata: { model: run.settings.model, ...(partial && { partial: true }) },
    };
    return { type: 'message.created', iteration: state.iteration, data: { message } };
  }

  private callBlock(call: DecodedReply['calls'][number]) {
    return {
      type: 'tool_call' as const,
      tool_call_id: callIdAt(this.messageId, call.index),
      name: call.name,
      arguments: call.arguments,
      ...(call.malformed && { raw_arguments: call.malformed.written }),
    };
  }

  private calls(decoded: DecodedReply): NewFact[] {
    return planCalls(this.pass, this.messageId, decoded.calls);
  }

  private usage(end: ModelEnd): NewFact[] {
    const { run, state, ports } = this.pass;
    const data = {
      model_call_id: ports.clerk.modelCallId(),
      model: run.settings.model,
      ...(end.usage ?? { ...noUsage, estimated: true }),
      finish_reason: end.how === 'finished' ? end.finishReason : end.how,
      duration_ms: this.time() - this.beganAt,
      first_token_ms: this.firstOutputAt === undefined ? null : this.firstOutputAt - this.beganAt,
    };
    return [{ type: 'usage.recorded', iteration: state.iteration, data }];
  }

  private time(): number {
    return Date.parse(this.pass.ports.clerk.now());
  }
}

const isEmpty = ({ content, calls }: DecodedReply): boolean =>
  calls.length === 0 && !content.some((block) => block.type === 'text' && block.text.trim() !== '');
