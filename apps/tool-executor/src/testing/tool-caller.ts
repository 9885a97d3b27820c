import { type Delta, type ToolCall, accountId, callIdAt, messageId, runId, threadId } from '@rondo/contract';
import { builtInTools, toEffect } from '@rondo/domain';
import { plannedCall } from '@rondo/domain/testing';
import { type NatsLink, NatsTools, PendingCancellations, ToolStreams } from '@rondo/messaging';
import { newUlid } from '@rondo/platform';

const untouched = new AbortController().signal;

const aThread = () => threadId.parse(`thr_${newUlid()}`);

/** Sends calls to the executor as a worker does. */
export class ToolCaller {
  readonly deltas: Delta[] = [];
  readonly tools: NatsTools;
  private index = 0;

  constructor(
    nats: NatsLink,
    place: () => Promise<string>,
    readonly threadId = aThread(),
  ) {
    const onOutput = (delta: Delta) => {
      this.deltas.push(delta);
      this.onDelta();
    };
    const runs = { runId: runId.parse(`run_${newUlid()}`), accountId: accountId.parse('acc_1') };
    const ids = { ...runs, threadId: this.threadId };
    this.tools = new NatsTools({
      nats,
      streams: new ToolStreams(nats),
      pendingCancellations: new PendingCancellations(nats),
      ...ids,
      epoch: 1,
      placement: place,
      onOutput,
      toolSet: builtInTools,
    });
  }

  onDelta = (): void => undefined;

  execute(
    name: string,
    given: Record<string, unknown>,
    signal: AbortSignal = untouched,
  ): ReturnType<NatsTools['execute']> {
    return this.tools.execute(this.call(name, given), signal);
  }

  private call(name: string, given: Record<string, unknown>): ToolCall {
    const message = messageId.parse(`msg_${newUlid()}`);
    return plannedCall({
      id: callIdAt(message, (this.index += 1)),
      name,
      arguments: given,
      effect_class: toEffect(builtInTools.named(name), given),
      status: 'dispatched',
      attempt: 1,
      message_id: message,
    });
  }
}
