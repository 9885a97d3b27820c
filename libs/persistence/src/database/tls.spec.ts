import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket, createSecureContext } from 'node:tls';
import { issueCertificates } from '../../../../deploy/local/servers/issue-certificates.mjs';
import { probes } from '../../../../deploy/local/servers/probes.mjs';
import { openDatabase } from './database';
import { type TestDatabase, makeTestDatabase } from '../testing/test-database';

/** What a client sends first to ask for TLS, and the answer that it may have it. */
const requestBytes = 8;
const granted = 'S';

/** What docs/operations.md says of `sslmode` in DATABASE_URL. */
describe('a Postgres whose certificate is of a private authority', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tls-spec-'));
  const file = (name: string) => join(directory, name);
  const sockets = new Set<Socket>();
  let database: TestDatabase;
  let server: Server;
  let asksForCertificates = false;

  beforeAll(async () => {
    issueCertificates(directory);
    database = await makeTestDatabase();
    const { hostname, port } = new URL(database.url);
    server = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
      near.once('data', (request: Buffer) => {
        if (request.length !== requestBytes) return void near.destroy(); // it goes on without TLS
        near.write(granted);
        const secureContext = createSecureContext({
          ...{ key: readFileSync(file('server.key')), cert: readFileSync(file('server.pem')) },
          ca: readFileSync(file('ca.pem')),
        });
        const tls = new TLSSocket(near, {
          ...{ isServer: true, secureContext },
          ...{ requestCert: asksForCertificates, rejectUnauthorized: asksForCertificates },
        });
        tls.on('error', () => near.destroy());
        tls.pipe(far).pipe(tls);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
    await database.drop();
    rmSync(directory, { recursive: true });
  });

  function toUrl(parameters: string): string {
    const { port } = server.address() as AddressInfo; // it listens on TCP
    return Object.assign(new URL(database.url), { hostname: 'localhost', port, search: parameters }).href;
  }

  async function tryLogin(parameters: string): Promise<string> {
    const service = openDatabase({ url: toUrl(parameters), poolSize: 1 });
    const outcome = await service.ping().then(
      () => 'connected',
      (error: unknown) => String(error),
    );
    await service.close();
    return outcome;
  }

  it.each(['sslmode=require', 'sslmode=verify-full'])(
    'is refused with %s where Node does not know it',
    async (given) => {
      expect(await tryLogin(given)).toMatch(/certificate/);
    },
  );

  it.each([
    'sslmode=verify-full&sslrootcert=CA',
    'sslmode=require&sslrootcert=CA',
    'sslmode=require&uselibpqcompat=true',
    'sslmode=no-verify',
  ])('is used with %s', async (given) => {
    expect(await tryLogin(given.replace('CA', file('ca.pem')))).toBe('connected');
  });

  it('is known to npm start by NODE_EXTRA_CA_CERTS in .env, which Node itself has not read', async () => {
    const url = toUrl('sslmode=verify-full');
    await expect(probes.postgres(url)).rejects.toThrow('certificate');

    const before = process.env['NODE_EXTRA_CA_CERTS'];
    process.env['NODE_EXTRA_CA_CERTS'] = file('ca.pem');
    const outcome = probes.postgres(url);
    if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
    else process.env['NODE_EXTRA_CA_CERTS'] = before;

    await expect(outcome).resolves.toBeUndefined();
  });

  it('gets the certificate of a client that is given one, and refuses others', async () => {
    asksForCertificates = true;
    const withRoot = `sslmode=verify-full&sslrootcert=${file('ca.pem')}`;

    const outcomes = [
      await tryLogin(`${withRoot}&sslcert=${file('client.pem')}&sslkey=${file('client.key')}`),
      await tryLogin(withRoot),
    ];

    expect(outcomes).toEqual(['connected', expect.not.stringMatching('connected')]);
  });
});
