import { type Socket, createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolveByDns, resolveWithSystem } from './resolve';

const records: Record<string, { type: number; data: number[] }> = {
  'four.example': { type: 1, data: [192, 0, 2, 7] },
  'six.example': { type: 28, data: [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 7] },
};

/** Answers A and AAAA queries from the table; does not answer for `slow.example`, and fails for `broken.example`. */
async function nameServer(asked: string[]): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const type = query.readUInt16BE(at + 1);
    asked.push(`${name} ${type}`);
    if (name === 'slow.example') return;

    const record = records[name];
    const answers = record?.type === type ? record.data : undefined;
    const code = name === 'broken.example' ? 2 : record ? 0 : 3;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(answers ? 1 : 0, 6);
    header.writeUInt16BE(0, 10);
    const tail = answers ? [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, answers.length, ...answers] : [];
    server.send(Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(tail)]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('resolveByDns', () => {
  const asked: string[] = [];
  let server: Socket;
  let servers: string[];

  beforeAll(async () => {
    server = await nameServer(asked);
    servers = [`127.0.0.1:${server.address().port}`];
  });
  afterAll(() => server.close());
  beforeEach(() => (asked.length = 0));

  it.each([
    ['four.example', ['192.0.2.7']],
    ['six.example', ['2001:db8::7']],
    ['nowhere.example', []],
  ])('resolves %s to %j', async (host, addresses) => {
    expect(await resolveByDns({ servers })(host)).toEqual(addresses);
  });

  it('rejects when a server fails', async () => {
    await expect(resolveByDns({ servers })('broken.example')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('rejects at its time limit when a server is silent, and blocks no thread meanwhile', async () => {
    const slow = Array.from({ length: 20 }, () => resolveByDns({ servers, timeoutMs: 1_000 })('slow.example'));
    const settled = Promise.allSettled(slow);
    const read = readFile(__filename).then(() => 'read');
    expect(await Promise.race([settled, read])).toBe('read');

    expect((await settled).map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
    expect(asked.length).toBeGreaterThanOrEqual(20);
  });

  it('does not read /etc/hosts', async () => {
    expect(await resolveByDns({ servers })('localhost')).toEqual([]);
    expect(asked).toContain('localhost 1');
  });
});

describe('resolveWithSystem', () => {
  it('reads /etc/hosts', async () => {
    expect(await resolveWithSystem()('localhost')).toContain('127.0.0.1');
  });

  it('looks up each name once at a time, and two names at most', async () => {
    const answer = new Map<string, (found: LookupAddress[]) => void>();
    const asked: string[] = [];
    const resolve = resolveWithSystem((host) => {
      asked.push(host);
      return new Promise((found) => answer.set(host, found));
    });

    const found = ['a', 'a', 'b', 'c', 'c'].map(resolve);
    await new Promise(setImmediate);
    expect(asked).toEqual(['a', 'b']);

    answer.get('a')?.([{ address: '10.0.0.1', family: 4 }]);
    await Promise.all(found.slice(0, 2));
    await new Promise(setImmediate);
    expect(asked).toEqual(['a', 'b', 'c']);
    for (const host of ['b', 'c']) answer.get(host)?.([{ address: '10.0.0.2', family: 4 }]);
    expect(await Promise.all(found)).toEqual([['10.0.0.1'], ['10.0.0.1'], ['10.0.0.2'], ['10.0.0.2'], ['10.0.0.2']]);
  });

  it('rejects at its time limit, and works again after a failure', async () => {
    await expect(resolveWithSystem(() => new Promise(() => undefined), 50)('a')).rejects.toThrow(
      'not resolved in time',
    );
    await expect(resolveWithSystem(() => Promise.reject(new Error('gone')))('a')).rejects.toThrow('gone');
  });
});
