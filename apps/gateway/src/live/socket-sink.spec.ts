import { EventEmitter } from 'node:events';
import { Holding, MemoryBudget } from '../auth/memory-budget';
import type { SerializedEvent } from './serialized-event';
import { SocketSink } from './socket-sink';
import { ScriptedRun } from './testing/scripted-run';

const event = new ScriptedRun().appendFact();
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const kilobytes = (count: number): string => 'x'.repeat(count * 1024);

const holding = (bytes = 1024 * 1024 * 1024) => new Holding(new MemoryBudget(2 * bytes), 'account');

/** A socket that accepts everything and sends nothing until it drains. */
function blockedSocket(unread = holding()) {
  const conn = Object.assign(new EventEmitter(), { transport: { writable: false } });
  return { sink: new SocketSink({ emit: () => true, conn }, unread), drain: () => conn.emit('drain') };
}

describe('SocketSink', () => {
  it('is full after a megabyte that was not read, until it drains', async () => {
    const { sink, drain } = blockedSocket();
    expect(sink.send(event, kilobytes(512))).toBe(true);
    expect(sink.send(event, kilobytes(512))).toBe(false);

    const drained = sink.waitUntilDrained();
    drain();
    await drained;
    expect(sink.send(event, kilobytes(512))).toBe(true);
  });

  it('is full where the share of its account is used up, until it drains', async () => {
    const { sink, drain } = blockedSocket(holding(700 * 1024));
    expect(sink.send(event, kilobytes(400))).toBe(true);
    expect(sink.send(event, kilobytes(400))).toBe(false);

    const drained = sink.waitUntilDrained();
    drain();
    await drained;
    expect(sink.send(event, kilobytes(400))).toBe(true);
  });

  it('is full after 256 events that were not read', () => {
    const { sink } = blockedSocket();
    const accepted = Array.from({ length: 256 }, () => sink.send(event, '{}'));

    expect(accepted.indexOf(false)).toBe(255);
  });

  it('is never full while the connection drains at once', async () => {
    const conn = Object.assign(new EventEmitter(), { transport: { writable: true } });
    const sink = new SocketSink({ emit: () => conn.emit('drain'), conn }, holding());

    for (let count = 0; count < 300; count += 1) {
      expect(sink.send(event, kilobytes(512))).toBe(true);
      await nextTurn();
    }
  });

  it('sends the events of one turn of the event loop together, in order', async () => {
    const conn = Object.assign(new EventEmitter(), { transport: { writable: true } });
    const sent: [string, boolean][] = [];
    const emit = (_: 'event', { json }: SerializedEvent) => sent.push([json, conn.transport.writable]);
    const sink = new SocketSink({ emit, conn }, holding());

    for (const json of ['1', '2', '3']) sink.send(event, json);
    await nextTurn();
    sink.send(event, '4');
    await nextTurn();

    expect(sent).toEqual([
      ['1', false],
      ['2', false],
      ['3', true],
      ['4', true],
    ]);
  });
});
