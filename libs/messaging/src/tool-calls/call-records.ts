import { TransientError } from '@rondo/domain';
import { type Msg, type MsgHdrs, NatsError, headers } from 'nats';
import { z } from 'zod';
import { NoResponders, StorageRefused, assertStored } from '../connection/jetstream-requests';
import type { NatsLink } from '../connection/nats-link';
import { foundInStore } from '../connection/received';
import type { CallKey } from '../connection/subjects';
import { type ToolStreams, maxMessageBytes } from './tool-streams';
import {
  type DispatchedCall,
  type ToolProgress,
  type ToolOutput,
  type ToolReply,
  dispatchedCall,
  toKey,
  toolReply,
} from './wire-format';

/** The claimant of a call that was withdrawn before an executor claimed it: no executor may run it. */
export const withdrawn = 'withdrawn';

function onlyIfFirst(): MsgHdrs {
  const condition = headers();
  condition.set('Nats-Expected-Last-Subject-Sequence', '0');
  return condition;
}

/** What the claim of a call says of it. Long arguments are cut. */
const calledHeader = 'Rondo-Called';
const keptArguments = 1_000;

function describing({ name, arguments: given }: DispatchedCall): MsgHdrs {
  const described = onlyIfFirst();
  const text = JSON.stringify(given);
  described.set(calledHeader, encodeURIComponent(JSON.stringify({ name, called_with: text.slice(0, keptArguments) })));
  return described;
}

export interface ClaimedCall {
  readonly claimant: string;
  /** Empty where the executor was of an older version. */
  readonly name: string;
  /** Its arguments as JSON, of which the end may be cut. */
  readonly calledWith: string;
}

const described = z.object({ name: z.string(), called_with: z.string() });

function readDescription(header: string): Pick<ClaimedCall, 'name' | 'calledWith'> {
  const { name, called_with } =
    header === '' ? { name: '', called_with: '' } : described.parse(JSON.parse(decodeURIComponent(header)));
  return { name, calledWith: called_with };
}

/**
 * JetStream's records of the calls of one executor: which wait in the queue, which process claimed an attempt, and its
 * reply. Each method rejects when JetStream cannot be reached; repeating it is always safe.
 */
export class CallRecords {
  constructor(
    private readonly nats: NatsLink,
    private readonly streams: ToolStreams,
    readonly executorId: string,
  ) {}

  /**
   * Sends a call to its executor through the queue; one that is sent twice is claimed once. It is not acknowledged: a call
   * that is lost leaves no record, and its worker sends it again. False when it is larger than NATS allows.
   */
  dispatch(call: DispatchedCall): boolean {
    return this.publish(this.nats.names.toolCalls.one(this.executorId, toKey(call)), JSON.stringify(call));
  }

  /** Sends a call that may run twice to its executor directly. It leaves no record even when it arrives. */
  dispatchPastQueue(call: DispatchedCall): boolean {
    return this.publish(this.nats.names.toolAsk(this.executorId), JSON.stringify(call));
  }

  /** True until the executor has answered it. */
  async isQueued(key: CallKey): Promise<boolean> {
    const { stream, one } = this.nats.names.toolCalls;
    return (await this.last(stream, one(this.executorId, key))) !== undefined;
  }

  /** The call as it waits in the queue. */
  async readQueued(key: CallKey): Promise<DispatchedCall | undefined> {
    const { stream, one } = this.nats.names.toolCalls;
    const message = await this.last(stream, one(this.executorId, key));
    return message && foundInStore(dispatchedCall, message, this.nats.log);
  }

  async reply(key: CallKey): Promise<ToolReply | undefined> {
    const { stream, one } = this.nats.names.toolResults;
    const message = await this.last(stream, one(this.executorId, key));
    return message && foundInStore(toolReply, message, this.nats.log);
  }

  /** Sends the reply to the worker that holds the run now, and stores it for a later holder. */
  async storeReply(key: CallKey, reply: ToolReply): Promise<void> {
    const text = JSON.stringify(reply);
    this.sendProgress(key, 'reply', text);
    await this.put(this.nats.names.toolResults.one(this.executorId, key), text);
  }

  /** The same without acknowledgement, for a call that may run again when its reply is lost. False when it cannot be sent. */
  storeReplyUnconfirmed(key: CallKey, text: string): boolean {
    if (!this.nats.connected) return false;
    this.sendReply(key, text);
    return this.publish(this.nats.names.toolResults.one(this.executorId, key), text);
  }

  /** Sends the reply to the worker that holds the run now, and stores nothing. False when it cannot be sent. */
  sendReply(key: CallKey, text: string): boolean {
    return this.nats.connected && this.sendProgress(key, 'reply', text);
  }

  /** Sends what a tool prints to the worker that holds the run. */
  sendOutput(key: CallKey, output: ToolOutput): void {
    this.sendProgress(key, 'output', JSON.stringify(output));
  }

  /** Withdraws a call and replies that it is stopped. Does nothing for one that is claimed or answered. */
  async withdraw(key: CallKey): Promise<void> {
    if ((await this.claim(key, withdrawn)) !== withdrawn) return;
    const stopped: ToolReply = { how: 'stopped', verified_dead_at: new Date().toISOString() };
    const text = JSON.stringify(stopped);
    try {
      await this.put(this.nats.names.toolResults.one(this.executorId, key), text, onlyIfFirst());
      this.sendProgress(key, 'reply', text);
    } catch (error) {
      if (!isNotFirst(error)) throw error;
    }
  }

  /**
   * Only the first claim of an attempt counts, for a day. Resolves to its claimant. With the call, the claim also says what was
   * called: the log may lose it.
   */
  async claim(key: CallKey, claimant: string, call?: DispatchedCall): Promise<string> {
    try {
      const how = call ? describing(call) : onlyIfFirst();
      await this.put(this.nats.names.toolTakers.one(this.executorId, key), claimant, how);
      return claimant;
    } catch (error) {
      if (!isNotFirst(error)) throw error;
      return (await this.claimant(key)) ?? (await this.claim(key, claimant, call));
    }
  }

  async claimant(key: CallKey): Promise<string | undefined> {
    const { stream, one } = this.nats.names.toolTakers;
    return (await this.last(stream, one(this.executorId, key)))?.string();
  }

  /** The milliseconds by which the clock of this process is ahead of that of NATS, which has stored this claim a moment ago. */
  async clockAheadMs(key: CallKey): Promise<number> {
    const { stream, one } = this.nats.names.toolTakers;
    const stored = await this.last(stream, one(this.executorId, key));
    const at = Date.parse(stored?.headers?.get('Nats-Time-Stamp') ?? '');
    return Number.isNaN(at) ? 0 : Date.now() - at;
  }

  /** Who has claimed the call, and what was called. */
  async readClaimedCall(key: CallKey): Promise<ClaimedCall | undefined> {
    const { stream, one } = this.nats.names.toolTakers;
    const message = await this.last(stream, one(this.executorId, key));
    if (!message) return undefined;
    const described = readDescription(message.headers?.get(calledHeader) ?? '');
    return { claimant: message.string(), ...described };
  }

  /** May be lost, and is when it is too large; the worker then finds a reply where it is stored. */
  private sendProgress({ runId, callId, attempt }: CallKey, what: keyof ToolProgress, json: string): boolean {
    return this.publish(
      this.nats.names.toolNews(this.executorId, runId),
      `{"call_id":"${callId}","attempt":${attempt},"${what}":${json}}`,
    );
  }

  private publish(subject: string, text: string): boolean {
    const { connection, writes } = this.nats;
    const body = Buffer.from(text);
    if (body.length > Math.min(maxMessageBytes, connection.info?.max_payload ?? Infinity)) return false;
    writes.soon(() => {
      if (this.nats.connected) connection.publish(subject, body);
    });
    return true;
  }

  private async put(subject: string, text: string, headers?: MsgHdrs): Promise<void> {
    assertStored(await this.request(subject, text, headers));
  }

  /** The last message on a subject, by a direct get: any replica answers, and no consumer is needed. */
  private async last(stream: string, subject: string): Promise<Msg | undefined> {
    const message = await this.request(`$JS.API.DIRECT.GET.${stream}.${subject}`, '');
    return message.headers?.code === 404 ? undefined : message;
  }

  private async request(subject: string, text: string, headers?: MsgHdrs): Promise<Msg> {
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

/** Larger than the server or the stream allows: a retry cannot help. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof StorageRefused
    ? error.code === messageTooLarge
    : error instanceof NatsError && error.code === 'MAX_PAYLOAD_EXCEEDED';
