import { type Connection, HttpConnections } from './http-connections';

it('lets calls beyond the maximum wait for a released connection, in order', () => {
  const connections = new HttpConnections('http://127.0.0.1:1');
  const acquired: Connection[] = [];
  for (let count = 0; count < 1026; count++) connections.acquire((connection) => acquired.push(connection));
  expect(new Set(acquired).size).toBe(1024);
  const [first, second] = acquired;
  if (!first || !second) throw new Error('no connection');

  connections.release(second);
  connections.release(first);

  expect(acquired.slice(1024)).toEqual([second, first]);
});

it('reuses the connection that was used last, and creates one only when none is idle', () => {
  const connections = new HttpConnections('http://127.0.0.1:1');
  const acquired: Connection[] = [];
  const acquire = () => connections.acquire((connection) => acquired.push(connection));
  acquire();
  acquire();
  const [first, second] = acquired;
  for (const connection of acquired.splice(0)) connections.release(connection);

  acquire();
  acquire();
  acquire();

  expect(acquired.slice(0, 2)).toEqual([second, first]);
  expect([first, second]).not.toContain(acquired[2]);
});
