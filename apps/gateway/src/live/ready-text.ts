import { Decoder, Encoder, type Packet, PacketType } from 'socket.io-parser';

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

/** What a Socket.IO server takes as its `parser`. */
export const readyTextParser = { Encoder: ReadyTextEncoder, Decoder };
