import fc from 'fast-check';
import { Encoder, PacketType } from 'socket.io-parser';
import { SerializedEvent, serializedEventParser } from './serialized-event';

const plain = new Encoder();
const encoder = new serializedEventParser.Encoder();

describe('serializedEventParser', () => {
  it('writes serialized events to the byte as Socket.IO writes the value', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('/', '/runs'),
        fc.option(fc.nat(), { nil: undefined }),
        (value, nsp, id) => {
          const packet = { type: PacketType.EVENT, nsp, ...(id !== undefined && { id }) };
          const ready = encoder.encode({ ...packet, data: ['event', new SerializedEvent(JSON.stringify(value))] });

          expect(ready).toEqual(plain.encode({ ...packet, data: ['event', value] }));
        },
      ),
    );
  });

  it('leaves all other packets to Socket.IO', () => {
    const ack = { type: PacketType.ACK, nsp: '/runs', id: 7, data: [{ ok: true }] };
    expect(encoder.encode(ack)).toEqual(plain.encode(ack));

    const bytes = { type: PacketType.EVENT, nsp: '/runs', data: ['event', { bytes: Buffer.from('x') }] };
    expect(encoder.encode({ ...bytes })).toEqual(plain.encode({ ...bytes }));
  });
});
