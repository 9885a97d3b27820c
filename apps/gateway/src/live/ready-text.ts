import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';
import { nestingTrouble, tooDeep } from '../http/nesting';

/** An argument of an event that is JSON already: it goes to the wire as it is, not read and written once more. */
export class ReadyText {
  constructor(readonly json: string) {}
}

/** Writes what Socket.IO's own encoder writes. A client needs nothing but the default one to read it. */
class ReadyTextEncoder extends Encoder {
  override encode(packet: Packet): unknown[] {
    const { type, nsp, id } = packet;
    if (type !== PacketType.EVENT || !isReady(packet.data)) return super.encode(packet);

    const [name, { json }] = packet.data;
    return [`${type}${nsp === '/' ? '' : `${nsp},`}${id ?? ''}[${JSON.stringify(name)},${json}]`];
  }
}

const isReady = (data: unknown): data is [name: string, text: ReadyText] =>
  Array.isArray(data) && data.length === 2 && data[1] instanceof ReadyText;

const withBytes: ReadonlySet<string> = new Set([PacketType.BINARY_EVENT, PacketType.BINARY_ACK].map(String));

/** Into a message with bytes the library puts them back by recursion. What it refuses ends the connection. */
class BoundedDecoder extends Decoder {
  override add(packet: unknown): void {
    if (typeof packet === 'string' && withBytes.has(packet.charAt(0)) && nestingTrouble(packet))
      throw new Error(tooDeep);
    super.add(packet);
  }
}

/** What a Socket.IO server takes as its `parser`. */
export const readyTextParser = { Encoder: ReadyTextEncoder, Decoder: BoundedDecoder };
