import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { issueCertificates } from '../../../../deploy/local/servers/issue-certificates.mjs';
import { probes } from '../../../../deploy/local/servers/probes.mjs';
import { freePorts } from '../testing/free-ports';
import { RedisServers } from '../testing/redis-servers';
import { openRedis, producerConnection, workerConnection } from './redis-connections';

const password = 'p_w';
let servers: RedisServers;
beforeEach(async () => (servers = await RedisServers.open()));
afterEach(() => servers.stop());

async function ready(redis: Redis): Promise<void> {
  redis.on('error', () => undefined);
  if (redis.status !== 'ready') await new Promise((resolve) => redis.once('ready', resolve));
}

/** Asks again until the answer is the wanted one. */
async function until<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<void> {
  const isDone = () => ask().then(isWanted, () => false);
  while (!(await isDone())) await sleep(10); // a connection that is lost refuses at once
}

it('jobs are added and taken after sentinels have replaced the primary, under a user name', async () => {
  const { primary, sentinels } = await servers.startSentinels(password);
  const url = `redis+sentinel://worker:${password}@${sentinels.map((port) => `127.0.0.1:${port}`).join(',')}/rondo/2`;
  const admin = openRedis(`redis://:${password}@127.0.0.1:${primary}`, 2_000);
  const sentinel = openRedis(`redis://127.0.0.1:${sentinels[0]}`, 2_000);
  await Promise.all([ready(admin), ready(sentinel)]);
  const known = async () => JSON.stringify(await sentinel.call('SENTINEL', 'REPLICAS', 'rondo'));
  await until(known, (text) => text.includes('"ok"'));
  await until(
    async () => JSON.stringify(await sentinel.call('SENTINEL', 'SENTINELS', 'rondo')),
    (text) => text.split('"runid"').length === 3,
  );
  const queue = new Queue('spec', { connection: producerConnection(url) });
  const taken: string[] = [];
  const readTaken = async () => {
    await setImmediate();
    return taken;
  };
  const worker = new Worker('spec', (job) => Promise.resolve(void taken.push(job.name)), {
    connection: workerConnection(url),
  });
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  await queue.add('before', {});
  await until(readTaken, (names) => names.includes('before'));
  expect(await admin.info('keyspace')).toContain('db2:');

  await servers.kill(primary);

  await until(() => queue.add('after', {}).then(() => true), Boolean);
  await until(readTaken, (names) => names.includes('after'));
  await Promise.all([worker.close(true), queue.close()]);
  for (const client of [admin, sentinel]) client.disconnect();
});

it('a server with TLS is checked against the authority that the URL names', async () => {
  issueCertificates(servers.directory);
  const file = (name: string) => join(servers.directory, name);
  const [port = 0] = await freePorts(1);
  const tls = [`tls-port ${port}`, `tls-cert-file ${file('server.pem')}`, `tls-key-file ${file('server.key')}`];
  servers.start(port, ['port 0', ...tls, `tls-ca-cert-file ${file('ca.pem')}`, `requirepass ${password}`]);
  const files = `sslrootcert=${file('ca.pem')}&sslcert=${file('client.pem')}&sslkey=${file('client.key')}`;

  const redis = openRedis(`rediss://:${password}@localhost:${port}?${files}`, 2_000);
  await ready(redis);

  expect(await redis.ping()).toBe('PONG');
  redis.disconnect();
  await expect(probes.redis(`rediss://:${password}@localhost:${port}?${files}`)).resolves.toBeUndefined();
  const doubting = openRedis(`rediss://:${password}@localhost:${port}`, 2_000);
  const [error] = (await once(doubting, 'error')) as [Error]; // what the client emits
  expect(error.message).toMatch(/certificate/);
  doubting.disconnect();
});

it('npm start logs in with a password of any characters', async () => {
  const [port = 0] = await freePorts(1);
  servers.start(port, [`port ${port}`, String.raw`requirepass "p@ss\" w\\rd"`]);
  const url = `redis://:${encodeURIComponent(String.raw`p@ss" w\rd`)}@127.0.0.1:${port}`;
  const redis = openRedis(url, 2_000);
  await ready(redis);
  redis.disconnect();

  await expect(probes.redis(url)).resolves.toBeUndefined();
});

it.each(['redis+sentinel://s1:26379', 'redis+sentinel://s1/rondo/x', 'redis+sentinel:///rondo'])(
  'says what is wrong with %s',
  (url) => {
    expect(() => producerConnection(url)).toThrow('REDIS_URL must be redis+sentinel://');
  },
);
