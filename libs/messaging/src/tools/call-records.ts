import { TransientError } from '@rondo/domain';
import { type Msg, NatsError } from 'nats';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import type { CallKey } from '../nats/subjects';
import { requestTimeoutMs } from './tool-streams';
import { type DispatchedCall, type ToolReply, keyOf, toolReply } from './tool-wire';

/** Says that a call was taken back before any executor took it: nobody may run it any more. */
export const withdrawn = 'withdrawn';

/**
 * What JetStream knows of one attempt of a call: whether it waits for an executor, who took it, and what came of it. Each method
 * rejects when JetStream cannot be asked; asking again is always safe.
 */
export class CallRecords {
  constructor(private readonly nats: NatsLink) {}

  /** Stores a call for an executor. Doing it twice with the same attempt does it once. */
  async dispatch(executorId: string, call: DispatchedCall): Promise<void> {
    const { names, toolStreams } = this.nats;
    const subject = names.toolCalls.one(executorId, keyOf(call));
    const msgID = `${call.call_id}-${call.attempt}`;
    await this.ask(() => toolStreams.jetstream.publish(subject, JSON.stringify(call), { msgID }));
  }

  /** True until the executor has answered it. */
  async waits(executorId: string, key: CallKey): Promise<boolean> {
    const { stream, one } = this.nats.names.toolCalls;
    return (await this.last(stream, one(executorId, key))) !== undefined;
  }

  async reply(key: CallKey): Promise<ToolReply | undefined> {
    const { stream, one } = this.nats.names.toolResults;
    const message = await this.last(stream, one(key));
    return message && received(toolReply, message, this.nats.log);
  }

  async store(key: CallKey, reply: ToolReply): Promise<void> {
    const { names, toolStreams } = this.nats;
    await this.ask(() => toolStreams.jetstream.publish(names.toolResults.one(key), JSON.stringify(reply)));
  }

  /** Only the first who takes an attempt gets it, for a day. Resolves to who that was. */
  async take(key: CallKey, taker: string): Promise<string> {
    const { names, toolStreams } = this.nats;
    const nobodyBefore = { expect: { lastSubjectSequence: 0 } };
    try {
      await this.ask(() => toolStreams.jetstream.publish(names.toolTakers.one(key), taker, nobodyBefore));
      return taker;
    } catch (error) {
      if (!wasTaken(error)) throw error;
      return (await this.taker(key)) ?? (await this.take(key, taker));
    }
  }

  async taker(key: CallKey): Promise<string | undefined> {
    const { stream, one } = this.nats.names.toolTakers;
    return (await this.last(stream, one(key)))?.string();
  }

  /** Direct get, as the protocol names it: any replica answers, and no consumer is needed. */
  private async last(stream: string, subject: string): Promise<Msg | undefined> {
    const { connection } = this.nats;
    const question = `$JS.API.DIRECT.GET.${stream}.${subject}`;
    const message = await this.ask(() => connection.request(question, undefined, { timeout: requestTimeoutMs }));
    return message.headers?.code === 404 ? undefined : message;
  }

  private async ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const { toolStreams, connected } = this.nats;
    if (!connected) throw new TransientError('NATS is away');
    await toolStreams.ensure();
    try {
      return await this.nats.together(question);
    } catch (error) {
      if (hasNoStream(error)) toolStreams.forget();
      throw error;
    }
  }
}

const hasNoStream = (error: unknown): boolean => error instanceof NatsError && error.code === '503';

const wrongLastSequence = 10071;
const messageTooLarge = 10054;

const wasTaken = (error: unknown): boolean =>
  error instanceof NatsError && error.api_error?.err_code === wrongLastSequence;

/** More than the server or the stream takes: trying again cannot help. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof NatsError &&
  (error.code === 'MAX_PAYLOAD_EXCEEDED' || error.api_error?.err_code === messageTooLarge);

/** The server itself said no, so nothing was stored. After anything else (a timeout, say) nobody knows. */
export const wasRefused = (error: unknown): boolean =>
  hasNoStream(error) || (error instanceof NatsError && error.api_error !== undefined) || isTooLarge(error);
