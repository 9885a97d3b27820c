import { HttpConnections } from './http-connections';

it('have one for each call, however many there are at once, and keep 1,024 of those that are released', () => {
  const connections = new HttpConnections('http://127.0.0.1:1');
  const acquire = (count: number) => Array.from({ length: count }, () => connections.acquire());
  const calls = acquire(1_030);
  expect(new Set(calls).size).toBe(1_030);
  const closed = calls.map(({ client }) => jest.spyOn(client, 'close').mockResolvedValue());

  for (const connection of calls) connections.release(connection);

  expect(closed.filter((close) => close.mock.calls.length > 0)).toEqual(closed.slice(1_024));
  expect(acquire(1_025).filter((connection) => calls.includes(connection))).toHaveLength(1_024);
});

it('reuse the one that was used last, and are made only when none is idle', () => {
  const connections = new HttpConnections('http://127.0.0.1:1');
  const [first, second] = [connections.acquire(), connections.acquire()];
  for (const connection of [first, second]) connections.release(connection);

  const again = [connections.acquire(), connections.acquire(), connections.acquire()];

  expect(again.slice(0, 2)).toEqual([second, first]);
  expect([first, second]).not.toContain(again[2]);
});
