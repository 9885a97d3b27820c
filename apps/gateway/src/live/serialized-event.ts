import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';
import { findExcess, maxDepth, maxValues } from '../http/json-bounds';
import { UnreadInput } from '../http/parse-input';

/** An argument of an event that is JSON already: it is sent as it is, without being parsed and serialized again. */
export class SerializedEvent {
  constructor(readonly json: string) {}
}

/** Writes what Socket.IO's own encoder writes, so that clients read it with the default decoder. */
class SerializedEventEncoder extends Encoder {
  override encode(packet: Packet): unknown[] {
    const { type, nsp, id } = packet;
    if (type !== PacketType.EVENT || !isSerialized(packet.data)) return super.encode(packet);

    const [name, { json }] = packet.data;
    return [`${type}${nsp === '/' ? '' : `${nsp},`}${id ?? ''}[${JSON.stringify(name)},${json}]`];
  }
}

const isSerialized = (data: unknown): data is [name: string, event: SerializedEvent] =>
  Array.isArray(data) && data.length === 2 && data[1] instanceof SerializedEvent;

/** An event with an acknowledgement, up to its only argument. */
const eventHead = new RegExp(String.raw`^${PacketType.EVENT}(/[^,]*),(\d{1,15})\["([\w.]{1,64})",`);

/** Shorter packets hold neither too many values nor too many levels. */
const shortestExcess = 2 * Math.min(maxDepth, maxValues);

const lengths = new WeakMap<object, number>();

/** How long the packet of a received message was, in characters. */
export const lengthOfMessage = (message: unknown): number =>
  typeof message === 'object' && message !== null ? (lengths.get(message) ?? 0) : 0;

/**
 * Looks at a packet before it is parsed. One with too many values or levels is not parsed: an event is answered, with
 * the reason, and any other ends the connection. The library also restores the bytes of a binary message by recursion.
 */
class BoundedDecoder extends Decoder {
  private length = 0;

  constructor() {
    super();
    this.on('decoded', ({ data }: Packet) => {
      const message: unknown = Array.isArray(data) ? data[1] : undefined;
      if (typeof message === 'object' && message !== null) lengths.set(message, this.length);
    });
  }

  override add(packet: unknown): void {
    this.length = typeof packet === 'string' ? packet.length : 0;
    const excess = typeof packet === 'string' && packet.length >= shortestExcess ? findExcess(packet) : undefined;
    if (!excess) {
      super.add(packet);
      return;
    }
    const [, nsp = '', id = '', name] = eventHead.exec(String(packet)) ?? [];
    if (name === undefined) throw new Error(excess.message);
    const unread = new UnreadInput(excess);
    this.emitReserved('decoded', { type: PacketType.EVENT, nsp, id: Number(id), data: [name, unread] });
  }
}

/** What a Socket.IO server takes as its `parser`. */
export const serializedEventParser = { Encoder: SerializedEventEncoder, Decoder: BoundedDecoder };
