import { TransientError } from '@rondo/domain';
import { type Msg, type MsgHdrs, NatsError, headers } from 'nats';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import { NobodyListens } from '../nats/requests';
import { StorageRefused, assertStored } from '../nats/stored';
import type { CallKey } from '../nats/subjects';
import { longestCallBytes } from './tool-streams';
import { type DispatchedCall, type ToolReply, keyOf, toolReply } from './tool-wire';

/** Says that a call was taken back before any executor took it: nobody may run it any more. */
export const withdrawn = 'withdrawn';

const nobodyBefore = headers();
nobodyBefore.set('Nats-Expected-Last-Subject-Sequence', '0');

/**
 * What JetStream knows of one attempt of a call: whether it waits for an executor, who took it, and what came of it. Each method
 * rejects when JetStream cannot be asked; asking again is always safe.
 */
export class CallRecords {
  constructor(private readonly nats: NatsLink) {}

  /**
   * Sends a call to its executor; one that is sent twice is taken once. Nothing confirms it: what is lost leaves no trace
   * here, and is sent again by who misses it. False when it is larger than NATS takes.
   */
  dispatch(executorId: string, call: DispatchedCall): boolean {
    const { connection, departures, names } = this.nats;
    const body = Buffer.from(JSON.stringify(call));
    if (body.length > Math.min(longestCallBytes, connection.info?.max_payload ?? Infinity)) return false;

    const subject = names.toolCalls.one(executorId, keyOf(call));
    departures.soon(() => {
      if (this.nats.connected) connection.publish(subject, body);
    });
    return true;
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
    await this.put(this.nats.names.toolResults.one(key), JSON.stringify(reply));
  }

  /** Only the first who takes an attempt gets it, for a day. Resolves to who that was. */
  async take(key: CallKey, taker: string): Promise<string> {
    try {
      await this.put(this.nats.names.toolTakers.one(key), taker, nobodyBefore);
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

  private async put(subject: string, text: string, headers?: MsgHdrs): Promise<void> {
    assertStored(await this.ask(subject, text, headers));
  }

  /** Direct get, as the protocol names it: any replica answers, and no consumer is needed. */
  private async last(stream: string, subject: string): Promise<Msg | undefined> {
    const message = await this.ask(`$JS.API.DIRECT.GET.${stream}.${subject}`, '');
    return message.headers?.code === 404 ? undefined : message;
  }

  private async ask(subject: string, text: string, headers?: MsgHdrs): Promise<Msg> {
    const { toolStreams, connected, requests } = this.nats;
    if (!connected) throw new TransientError('NATS is away');
    await toolStreams.ensure();
    try {
      return await requests.ask(subject, text, headers);
    } catch (error) {
      if (error instanceof NobodyListens) toolStreams.forget();
      throw error;
    }
  }
}

const wrongLastSequence = 10071;
const messageTooLarge = 10054;

const wasTaken = (error: unknown): boolean => error instanceof StorageRefused && error.code === wrongLastSequence;

/** More than the server or the stream takes: trying again cannot help. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof StorageRefused
    ? error.code === messageTooLarge
    : error instanceof NatsError && error.code === 'MAX_PAYLOAD_EXCEEDED';
