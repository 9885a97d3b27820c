import { TransientError } from '@rondo/domain';
import { type Msg, type MsgHdrs, NatsError, headers } from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { foundInStore } from '../connection/received';
import { NoResponders } from '../connection/requests';
import { StorageRefused, assertStored } from '../connection/stored';
import type { CallKey } from '../connection/subjects';
import { type ToolStreams, maxMessageBytes } from './tool-streams';
import {
  type DispatchedCall,
  type ToolProgress,
  type ToolOutput,
  type ToolReply,
  dispatchedCall,
  keyOf,
  toolReply,
} from './tool-wire';

/** Says that a call was taken back before any executor took it: nobody may run it any more. */
export const withdrawn = 'withdrawn';

const nobodyBefore = headers();
nobodyBefore.set('Nats-Expected-Last-Subject-Sequence', '0');

/**
 * What JetStream knows of one attempt of a call: whether it waits for an executor, who took it, and what came of it. Each method
 * rejects when JetStream cannot be asked; asking again is always safe. All of it is of the calls of one executor.
 */
export class CallRecords {
  constructor(
    private readonly nats: NatsLink,
    private readonly streams: ToolStreams,
    readonly executorId: string,
  ) {}

  /**
   * Sends a call to its executor; one that is sent twice is taken once. Nothing confirms it: what is lost leaves no trace
   * here, and is sent again by who misses it. False when it is larger than NATS takes.
   */
  dispatch(call: DispatchedCall): boolean {
    return this.leave(this.nats.names.toolCalls.one(this.executorId, keyOf(call)), JSON.stringify(call));
  }

  /** The same past the queue: a shorter way, for a call that may run again. It leaves no trace even where it arrives. */
  askToRun(call: DispatchedCall): boolean {
    return this.leave(this.nats.names.toolAsk(this.executorId), JSON.stringify(call));
  }

  /** True until the executor has answered it. */
  async waits(key: CallKey): Promise<boolean> {
    const { stream, one } = this.nats.names.toolCalls;
    return (await this.last(stream, one(this.executorId, key))) !== undefined;
  }

  /** As it waits for its executor. */
  async queued(key: CallKey): Promise<DispatchedCall | undefined> {
    const { stream, one } = this.nats.names.toolCalls;
    const message = await this.last(stream, one(this.executorId, key));
    return message && foundInStore(dispatchedCall, message, this.nats.log);
  }

  async reply(key: CallKey): Promise<ToolReply | undefined> {
    const { stream, one } = this.nats.names.toolResults;
    const message = await this.last(stream, one(this.executorId, key));
    return message && foundInStore(toolReply, message, this.nats.log);
  }

  /** Keeps the reply for whoever holds the run later, and tells whoever holds it now. */
  async store(key: CallKey, reply: ToolReply): Promise<void> {
    const text = JSON.stringify(reply);
    this.tell(key, 'reply', text);
    await this.put(this.nats.names.toolResults.one(this.executorId, key), text);
  }

  /** The same for a call that may run again when its reply is lost: nothing confirms it. False when it cannot leave. */
  storeUnconfirmed(key: CallKey, text: string): boolean {
    if (!this.nats.connected) return false;
    this.tellReply(key, text);
    return this.leave(this.nats.names.toolResults.one(this.executorId, key), text);
  }

  /** Tells whoever holds the run now, and nobody later. False when it cannot leave. */
  tellReply(key: CallKey, text: string): boolean {
    return this.nats.connected && this.tell(key, 'reply', text);
  }

  /** Shows what a tool prints to whoever holds the run. */
  show(key: CallKey, output: ToolOutput): void {
    this.tell(key, 'output', JSON.stringify(output));
  }

  /** Says that nobody runs it, and sees to it that nobody will. Does nothing for one that was taken, or is answered. */
  async callOff(key: CallKey): Promise<void> {
    if ((await this.take(key, withdrawn)) !== withdrawn) return;
    const stopped: ToolReply = { how: 'stopped', verified_dead_at: new Date().toISOString() };
    const text = JSON.stringify(stopped);
    try {
      await this.put(this.nats.names.toolResults.one(this.executorId, key), text, nobodyBefore);
      this.tell(key, 'reply', text);
    } catch (error) {
      if (!isNotFirst(error)) throw error;
    }
  }

  /** Only the first who takes an attempt gets it, for a day. Resolves to who that was. */
  async take(key: CallKey, taker: string): Promise<string> {
    try {
      await this.put(this.nats.names.toolTakers.one(this.executorId, key), taker, nobodyBefore);
      return taker;
    } catch (error) {
      if (!isNotFirst(error)) throw error;
      return (await this.taker(key)) ?? (await this.take(key, taker));
    }
  }

  async taker(key: CallKey): Promise<string | undefined> {
    const { stream, one } = this.nats.names.toolTakers;
    return (await this.last(stream, one(this.executorId, key)))?.string();
  }

  /** May be lost, and is when it is too large; a reply is found where it is stored. */
  private tell({ runId, callId, attempt }: CallKey, what: keyof ToolProgress, json: string): boolean {
    return this.leave(
      this.nats.names.toolNews(this.executorId, runId),
      `{"call_id":"${callId}","attempt":${attempt},"${what}":${json}}`,
    );
  }

  private leave(subject: string, text: string): boolean {
    const { connection, writes } = this.nats;
    const body = Buffer.from(text);
    if (body.length > Math.min(maxMessageBytes, connection.info?.max_payload ?? Infinity)) return false;
    writes.soon(() => {
      if (this.nats.connected) connection.publish(subject, body);
    });
    return true;
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
    const { connected, requests } = this.nats;
    if (!connected) throw new TransientError('NATS is away');
    await this.streams.ensure();
    try {
      return await requests.request(subject, text, headers);
    } catch (error) {
      if (error instanceof NoResponders) this.streams.forget();
      throw error;
    }
  }
}

const wrongLastSequence = 10071;
const messageTooLarge = 10054;

const isNotFirst = (error: unknown): boolean => error instanceof StorageRefused && error.code === wrongLastSequence;

/** More than the server or the stream takes: trying again cannot help. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof StorageRefused
    ? error.code === messageTooLarge
    : error instanceof NatsError && error.code === 'MAX_PAYLOAD_EXCEEDED';
