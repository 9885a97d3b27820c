import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';
import { findExcessDepth, tooDeep } from '../http/json-depth';

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

const withBytes: ReadonlySet<string> = new Set([PacketType.BINARY_EVENT, PacketType.BINARY_ACK].map(String));

/** The library restores the bytes of a binary message by recursion. A message that it refuses ends the connection. */
class BoundedDecoder extends Decoder {
  override add(packet: unknown): void {
    if (typeof packet === 'string' && withBytes.has(packet.charAt(0)) && findExcessDepth(packet))
      throw new Error(tooDeep);
    super.add(packet);
  }
}

/** What a Socket.IO server takes as its `parser`. */
export const serializedEventParser = { Encoder: SerializedEventEncoder, Decoder: BoundedDecoder };
