import { EventEmitter } from 'node:events';
import { SocketSink } from './socket-sink';
import { ScriptedRun } from './testing/scripted-run';

const event = new ScriptedRun().note();
const kilobytes = (count: number): string => 'x'.repeat(count * 1024);

/** A wire that takes everything and passes on nothing until it drains. */
function stuckWire() {
  const conn = new EventEmitter();
  return { sink: new SocketSink({ emit: () => true, conn }), drain: () => conn.emit('drain') };
}

describe('SocketSink', () => {
  it('is full after a megabyte that nobody took, until it drains', async () => {
    const { sink, drain } = stuckWire();
    expect(sink.send(event, kilobytes(512))).toBe(true);
    expect(sink.send(event, kilobytes(512))).toBe(false);

    const drained = sink.drained();
    drain();
    await drained;
    expect(sink.send(event, kilobytes(512))).toBe(true);
  });

  it('is full after 256 events that nobody took', () => {
    const { sink } = stuckWire();
    const taken = Array.from({ length: 256 }, () => sink.send(event, '{}'));

    expect(taken.indexOf(false)).toBe(255);
  });

  it('is never full while the wire takes everything at once', () => {
    const conn = new EventEmitter();
    const sink = new SocketSink({ emit: () => conn.emit('drain'), conn });

    for (let count = 0; count < 1000; count += 1) expect(sink.send(event, kilobytes(512))).toBe(true);
  });
});
