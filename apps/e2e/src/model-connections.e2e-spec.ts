import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import { type Server as TlsServer, createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Asks for one word as the services do: through the SDKs of the providers and the product's own `fetch`. */
const program = join(__dirname, '../../agent-worker/dist/examine-model.js');
const host = 'models.test'; // resolves nowhere: only a proxy can reach it

const openAiReply = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
};
const messageEvents = [
  { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

describe('the connection to a model server with a certificate of a private authority', () => {
  let folder: string;
  let models: TlsServer;
  let proxy: Server;
  let connected: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rondo-authority-'));
    makeCertificates();
    const [key, cert] = ['server.key', 'server.pem'].map((name) => readFileSync(join(folder, name)));
    models = createTlsServer({ key, cert }, (request, response) => {
      const isMessages = request.url?.endsWith('/messages') ?? false;
      response.writeHead(200, { 'content-type': isMessages ? 'text/event-stream' : 'application/json' });
      response.end(isMessages ? messageEvents.join('') : JSON.stringify(openAiReply));
    });
    models.listen(0, '127.0.0.1');
    proxy = createServer();
    proxy.on('connect', (request, client) => {
      connected.push(request.url ?? '');
      const server = connect(readPort(models), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        server.pipe(client).pipe(server);
      });
      for (const one of [server, client]) one.on('error', () => one.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await Promise.all([once(models, 'listening'), once(proxy, 'listening')]);
  });

  beforeEach(() => (connected = []));

  afterAll(() => {
    models.closeAllConnections();
    models.close();
    proxy.closeAllConnections();
    proxy.close();
    rmSync(folder, { recursive: true });
  });

  /** An authority, and a certificate of it for the host and for this machine. */
  function makeCertificates(): void {
    const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority', '-days', '2');
    openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', `/CN=${host}`);
    writeFileSync(join(folder, 'names'), `subjectAltName=DNS:${host},IP:127.0.0.1`);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', '2'];
    openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem');
  }

  const readPort = (server: Server | TlsServer) => (server.address() as AddressInfo).port; // it listens on TCP
  const direct = () => `https://127.0.0.1:${readPort(models)}`;

  /** Why it does not work; undefined if it does. */
  async function tryModel(kind: string, { url, trusts, ...proxies }: Tried): Promise<string | undefined> {
    const base_url = kind === 'anthropic' ? url : `${url}/v1`;
    const variables = { ...proxies, MODEL_PROVIDERS: JSON.stringify([{ name: 'lab', kind, base_url }]) };
    const authority = trusts ? { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } : {};
    const child = spawn(process.execPath, [program], { env: { PATH: process.env.PATH, ...authority } });
    child.stdin.end(JSON.stringify({ variables, model: 'lab/m', for: 'word' }));
    const { reason } = JSON.parse(await text(child.stdout)) as { reason?: string };
    return reason;
  }

  interface Tried {
    readonly url: string;
    readonly trusts: boolean;
    readonly HTTPS_PROXY?: string;
    readonly NO_PROXY?: string;
  }

  it.each(['openai', 'anthropic'])('of the kind %s needs the authority in NODE_EXTRA_CA_CERTS', async (kind) => {
    expect(await tryModel(kind, { url: direct(), trusts: true })).toBeUndefined();
    expect(await tryModel(kind, { url: direct(), trusts: false })).toContain('cannot be reached');
  });

  it.each(['openai', 'anthropic'])('of the kind %s goes through HTTPS_PROXY, unless NO_PROXY says so', async (kind) => {
    const HTTPS_PROXY = `http://127.0.0.1:${readPort(proxy)}`;
    const tried = { url: `https://${host}`, HTTPS_PROXY };

    expect(await tryModel(kind, { ...tried, trusts: true })).toBeUndefined();
    expect(connected).toEqual([`${host}:443`]);
    expect(await tryModel(kind, { ...tried, trusts: false })).toContain('cannot be reached');
    connected = [];
    expect(await tryModel(kind, { ...tried, trusts: true, NO_PROXY: host })).toContain('cannot be reached');
    expect(await tryModel(kind, { url: direct(), HTTPS_PROXY, trusts: true })).toBeUndefined();
    expect(connected).toEqual([]);
  });
});
