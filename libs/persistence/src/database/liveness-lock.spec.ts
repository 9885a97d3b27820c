import { EventEmitter, once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from './database';
import { LivenessLock, isDead } from './liveness-lock';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';

let database: TestDatabase;
const opened: Database[] = [];
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));
afterAll(() => database.drop());

function open(leaseOwner: string, url = database.url): Database {
  const process = openDatabase({ url, poolSize: 1, leaseOwner });
  opened.push(process);
  return process;
}

/** What others know of it. */
async function known(owner: string): Promise<'present' | 'absent' | 'unknown'> {
  const [row] = await database.sql.query<{ absent: boolean }>(
    `select ${isDead} as absent from presences where owner = $1`,
    [owner],
  );
  return row ? (row.absent ? 'absent' : 'present') : 'unknown';
}

async function until(owner: string, wanted: 'present' | 'unknown'): Promise<void> {
  while ((await known(owner)) !== wanted) await sleep(5);
}

const lockHolder = `select pid from pg_locks where locktype = 'advisory' and objsubid = 1
and database = (select oid from pg_database where datname = current_database())`;

async function cut(): Promise<void> {
  const [holder] = await database.sql.query<{ pid: number }>(lockHolder);
  await database.sql.query('select pg_terminate_backend($1)', [holder?.pid]);
}

describe('a liveness lock', () => {
  it('is there as long as the database is open, and then nothing is left of it', async () => {
    const process = open('worker-1');
    await until('worker-1', 'present');

    await process.close();

    expect(await known('worker-1')).toBe('unknown');
    expect(await database.sql.query(lockHolder)).toEqual([]);
    opened.length = 0;
  });

  it('is taken up again when its connection was cut', async () => {
    open('worker-1');
    await until('worker-1', 'present');
    const holder = async () => (await database.sql.query<{ pid: number }>(lockHolder))[0]?.pid;
    const before = await holder();

    await cut();
    for (let now = before; now === undefined || now === before; now = await holder()) await sleep(5);

    expect(await known('worker-1')).toBe('present');
    expect(await holder()).not.toBe(before);
  });

  it('is held without a pause while its connection does not answer, until another one holds it', async () => {
    const way = new SlowWay();
    open('worker-1', await way.readInFront(database.url));
    await until('worker-1', 'present');
    const holders = () => database.sql.query<{ pid: number }>(lockHolder);
    const [first] = await holders();

    way.holdAnswers();
    const replacement = await way.nextConnection();
    const during = await known('worker-1');
    replacement.pass();
    while ((await holders()).some(({ pid }) => pid === first?.pid)) expect(await known('worker-1')).toBe('present');

    expect([during, await known('worker-1')]).toEqual(['present', 'present']);
    way.close();
  }, 60_000);

  it('is withdrawn by other connections while it can have none of its own', async () => {
    const process = open('worker-1');
    await Promise.all([until('worker-1', 'present'), process.ping()]);
    const name = new URL(database.url).pathname.slice(1);
    const server = openDatabase({
      url: Object.assign(new URL(database.url), { pathname: '/postgres' }).href,
      poolSize: 1,
    });
    opened.push(server);
    const allow = (yes: boolean) => server.sql.query(`alter database ${name} allow_connections ${yes}`);

    await allow(false);
    await cut();
    await until('worker-1', 'unknown');
    await allow(true);

    await until('worker-1', 'present');
  });

  it('forgets those that were there before Postgres was started the last time', async () => {
    await database.sql.query(`insert into presences values ('worker-0', pg_postmaster_start_time() - interval '1 h')`);
    await database.sql.query(`insert into presences values ('worker-1', pg_postmaster_start_time() - interval '1 h')`);
    expect(await known('worker-1')).toBe('present'); // no process would count it as dead

    open('worker-1');
    await until('worker-0', 'unknown');

    expect(await known('worker-1')).toBe('present');
  });

  it('is replaced by beats behind a pooler, whose connections outlive the process', async () => {
    const pooler = new Pooler();
    const process = open('worker-1', await pooler.readInFront(database.url));
    const beats = () =>
      database.sql.query<{ beat: string }>(`select beat_at::text as beat from heartbeats where owner = 'worker-1'`);
    let [first] = await beats();
    while (first === undefined) [first] = await beats();
    let [next] = await beats();
    while (next?.beat === first.beat) [next] = await beats();

    expect(await known('worker-1')).toBe('unknown');
    await process.close();
    expect(await beats()).toEqual([]);
    opened.length = 0;
    pooler.close();
  });

  it('does not hold up the end of a process whose Postgres is silent', async () => {
    const silentServer = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silentServer.once('listening', resolve));
    const url = `postgresql://postgres@127.0.0.1:${(silentServer.address() as AddressInfo).port}/x`;
    const livenessLock = new LivenessLock({ url, owner: 'worker-1', sql: database.sql });

    await livenessLock.release(); // the server never answers

    silentServer.close();
  });
});

/** Between a process and Postgres. */
class Way {
  protected readonly sockets: Socket[] = [];
  private server: Server | undefined;

  async readInFront(url: string): Promise<string> {
    const { hostname, port } = new URL(url);
    this.server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      this.sockets.push(client, upstream);
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
      client.on('close', () => upstream.destroy());
      this.join(client, upstream);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => this.server?.once('listening', resolve));
    return Object.assign(new URL(url), { port: (this.server.address() as AddressInfo).port }).href;
  }

  protected join(client: Socket, upstream: Socket): void {
    client.pipe(upstream).pipe(client);
  }

  close(): void {
    this.server?.close();
    this.sockets.forEach((socket) => socket.destroy());
  }
}

/** Lets everything through, and names another backend than the one that answers. */
class Pooler extends Way {
  protected override join(client: Socket, upstream: Socket): void {
    client.pipe(upstream);
    upstream.on('data', (chunk) => client.write(renamed(chunk))).on('end', () => client.end());
  }
}

/** Once it holds back answers, those of later connections wait until they are let pass, and all that processes send goes on. */
class SlowWay extends Way {
  private isSlow = false;
  private readonly connections = new EventEmitter();

  holdAnswers(): void {
    this.isSlow = true;
    for (const socket of this.sockets) socket.unpipe();
    for (const [index, client] of this.sockets.entries()) {
      const upstream = this.sockets[index + 1];
      if (index % 2 === 0 && upstream) client.pipe(upstream);
    }
  }

  async nextConnection(): Promise<{ pass: () => void }> {
    const [pass] = (await once(this.connections, 'connection')) as [() => void];
    return { pass };
  }

  protected override join(client: Socket, upstream: Socket): void {
    client.pipe(upstream);
    const pass = () => void upstream.pipe(client);
    if (!this.isSlow) pass();
    else this.connections.emit('connection', pass);
  }
}

function renamed(chunk: Buffer): Buffer {
  const backendKeyData = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (backendKeyData >= 0) chunk.writeInt32BE(1, backendKeyData + 5);
  return chunk;
}
