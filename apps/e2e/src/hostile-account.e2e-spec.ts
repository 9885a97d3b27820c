import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Socket as TcpSocket, connect } from 'node:net';
import { RondoClient, RunningRondo } from '@rondo/test-deployment';

const megabyte = 1024 * 1024;
const heapMegabytes = 512;
const piece = Buffer.alloc(megabyte, ' ');

/** The head of a masked text frame of this many bytes; the mask changes nothing. */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff, 0);
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}

const frame = (text: string) => Buffer.concat([frameHead(Buffer.byteLength(text)), Buffer.from(text)]);

/** Connections that do what no library would. Being cut is what they expect. */
class HostileClient {
  private readonly open = new Set<TcpSocket>();

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  close(): void {
    for (const socket of this.open) socket.destroy();
  }

  /** Announces ten megabytes and sends nine. */
  async beginBody(): Promise<void> {
    const socket = await this.connect();
    const headers = [
      `Authorization: Bearer ${this.key}`,
      'Content-Type: application/json',
      `Content-Length: ${10 * megabyte}`,
    ];
    socket.write(`POST /v1/runs HTTP/1.1\r\nHost: gateway\r\n${headers.join('\r\n')}\r\n\r\n`);
    await this.sendPieces(socket);
  }

  /** Joins the namespace with its key; undefined if it was refused. */
  async join(): Promise<TcpSocket | undefined> {
    const socket = await this.connect();
    const headers = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    socket.write(
      `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: gateway\r\n${headers.join('\r\n')}\r\n\r\n`,
    );
    await nextData(socket);
    socket.write(frame(`40/runs,${JSON.stringify({ token: this.key })}`));
    for (;;) {
      const answer = await nextData(socket);
      if (answer === '' || answer.includes('44/runs,')) return undefined;
      if (answer.includes('40/runs,')) return socket;
    }
  }

  async beginMessage(socket: TcpSocket): Promise<void> {
    socket.write(frameHead(10 * megabyte));
    await this.sendPieces(socket);
  }

  /** Resolves when the last one is answered. */
  async subscribe(socket: TcpSocket, runs: readonly string[]): Promise<void> {
    const messages = runs.map((run_id, id) => frame(`42/runs,${id}["run.subscribe",${JSON.stringify({ run_id })}]`));
    socket.write(Buffer.concat(messages));
    let answers = 0;
    while (answers < runs.length && !socket.closed) answers += (await nextData(socket)).split('43/runs,').length - 1;
  }

  private async connect(): Promise<TcpSocket> {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.setMaxListeners(0); // one more for each answer that is waited for
    this.open.add(socket);
    await once(socket, 'connect');
    return socket;
  }

  private async sendPieces(socket: TcpSocket): Promise<void> {
    for (let sent = 0; sent < 9 && !socket.closed; sent += 1) {
      const taken = new Promise((resolve) => socket.write(piece, resolve));
      await Promise.race([taken, new Promise((resolve) => socket.once('close', resolve))]);
    }
  }
}

/** Empty when it was cut. */
function nextData(socket: TcpSocket): Promise<string> {
  return new Promise((resolve) => {
    if (socket.closed) resolve('');
    socket.once('data', (data) => resolve(data.toString()));
    socket.once('close', () => resolve(''));
  });
}

/** Of requests that are made one after the other until then. */
async function slowestAnswerMs(client: RondoClient, until: AbortSignal): Promise<number> {
  let slowest = 0;
  while (!until.aborted) {
    const begun = performance.now();
    await client.json('POST', '/threads', {});
    slowest = Math.max(slowest, performance.now() - begun);
  }
  return slowest;
}

const many = <Result>(count: number, work: () => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, work));

describe('attack: a gateway of 512 MB', () => {
  let rondo: RunningRondo;
  let operator: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'gateway'],
      settings: { gateway: { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}`, HANDSHAKES_PER_SECOND: '1000' } },
    });
    operator = rondo.client();
  });

  afterAll(() => rondo.stop());

  async function keysOfTenant(count: number): Promise<[string, ...string[]]> {
    const { client: tenant } = await operator.newAccount();
    const add = () => tenant.json<{ key: string }>('POST', '/api-keys', { name: 'another', scopes: ['write'] });
    return [tenant.key, ...(await many(count, add)).map(({ key }) => key)];
  }

  const residentMegabytes = (): number => {
    const { pid } = rondo.services.get('gateway');
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  };

  it('bodies, messages and subscriptions of an account with many keys, while another account is served', async () => {
    const [key, ...keys] = await keysOfTenant(9);
    const [otherKey] = await keysOfTenant(0);
    const other = new RondoClient(operator.url, otherKey);
    const tenant = new RondoClient(operator.url, key);
    const runs = (await many(60, () => tenant.createRun({ input: 'Wait.' }))).map(({ id }) => id);
    const { pid } = rondo.services.get('gateway');
    const hostile = keys.map((one) => new HostileClient(operator.url, one));
    const each = (count: number, work: (client: HostileClient) => Promise<void>) =>
      Promise.all(hostile.flatMap((client) => Array.from({ length: count }, () => work(client))));

    await each(5, async (client) => {
      const socket = await client.join();
      if (socket) await client.subscribe(socket, runs);
    });
    const attacked = new AbortController();
    const served = slowestAnswerMs(other, attacked.signal);
    await Promise.all([
      each(8, async (client) => {
        const socket = await client.join();
        if (socket) await client.beginMessage(socket);
      }),
      each(8, (client) => client.beginBody()),
    ]);
    attacked.abort();
    const slowestMs = await served;

    process.stderr.write(`peak ${residentMegabytes().toFixed()} MB, slowest answer ${slowestMs.toFixed()} ms\n`);
    expect(rondo.services.get('gateway').pid).toBe(pid);
    expect(residentMegabytes()).toBeLessThan(heapMegabytes + 300);
    expect(slowestMs).toBeLessThan(5_000);
    for (const client of hostile) client.close();
  });
});
