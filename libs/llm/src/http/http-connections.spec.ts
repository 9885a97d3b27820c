import { type Connection, HttpConnections } from './http-connections';

it('lets those beyond the most connections wait for one that is given back, in their order', () => {
  const connections = new HttpConnections('http://127.0.0.1:1');
  const taken: Connection[] = [];
  for (let count = 0; count < 1026; count++) connections.take((connection) => taken.push(connection));
  expect(new Set(taken).size).toBe(1024);
  const [first, second] = taken;
  if (!first || !second) throw new Error('no connection');

  connections.giveBack(second);
  connections.giveBack(first);

  expect(taken.slice(1024)).toEqual([second, first]);
});

it('takes the one that was used last, and makes another only where none is idle', () => {
  const connections = new HttpConnections('http://127.0.0.1:1');
  const taken: Connection[] = [];
  const take = () => connections.take((connection) => taken.push(connection));
  take();
  take();
  const [first, second] = taken;
  for (const connection of taken.splice(0)) connections.giveBack(connection);

  take();
  take();
  take();

  expect(taken.slice(0, 2)).toEqual([second, first]);
  expect([first, second]).not.toContain(taken[2]);
});
