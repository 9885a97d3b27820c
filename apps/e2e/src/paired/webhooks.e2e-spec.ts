import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Rondo, type WebhookEndpointWithSecret, verifyWebhook } from '@rondo/client';
import type { RondoClient, RunningRondo } from '@rondo/test-deployment';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { runDocumented } from '../documented-commands';
import { internalPort, newAccount, startPaired } from '../shared-deployment';

interface Received {
  readonly id: string;
  readonly accepted: boolean;
  readonly text: string;
  readonly fact: { readonly id: string; readonly seq: number; readonly run_id: string; readonly type: string };
}

/** Some conditions are questions to the gateway: asked without a pause, they keep it and this process busy. */
const lookAgainMs = 100;
const events = ['run.started', 'usage.recorded', 'run.completed'] as const;

describe('webhooks out', () => {
  let rondo: RunningRondo;
  let server: Server;
  let received: Received[];
  let accepts: () => boolean;
  let secret: string;
  let api: RondoClient;
  let client: Rondo;

  beforeAll(async () => {
    [received, accepts] = [[], () => true];
    const port = await internalPort();
    server = createServer((request, response) => void take(request, response)).listen(port, '127.0.0.1');
    await once(server, 'listening');
    rondo = await startPaired();
    api = await newAccount(rondo);
    client = new Rondo({ baseUrl: api.url, apiKey: api.key });
    const endpoint: WebhookEndpointWithSecret = await client.webhookEndpoints.create({
      url: `http://127.0.0.1:${port}/`,
      events: [...events],
    });
    ({ secret } = endpoint);
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
  });

  /** Checks the signature with the client that receivers would use. What is not accepted is never answered. */
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const asked = new Request('http://receiver/', { method: 'POST', headers, body: Buffer.concat(chunks) });
    const text = await verifyWebhook(asked, { secrets: secret });
    const accepted = accepts();
    received.push({ id: headers.get('webhook-id') ?? '', accepted, text, fact: JSON.parse(text).data });
    if (accepted) response.writeHead(204).end();
  }

  /** What a killed gateway was sending is due again after a minute, which is not waited for. */
  const passTheirLeases = () =>
    withClient(rondo.infrastructure.env.DATABASE_URL ?? '', (database) =>
      database.query(`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`),
    );

  const until = async (reached: () => boolean | Promise<boolean>) => {
    while (!(await reached())) await setTimeout(lookAgainMs);
  };

  it('lose nothing and invent nothing while the gateways that send them are killed, in order per run (I1)', async () => {
    accepts = () => received.length % 3 === 0;
    const started = await Promise.all(
      Array.from({ length: 8 }, (_, n) => api.createRun({ input: `Number ${n}.`, model: 'demo/plain' })),
    );
    await until(() => received.filter(({ accepted }) => !accepted).length >= 4); // attempts without an answer
    for (const name of ['gateway', 'gateway-2']) await rondo.services.get(name).kill();
    accepts = () => true;
    await passTheirLeases();
    for (const name of ['gateway', 'gateway-2']) await rondo.services.get(name).start();
    for (const { id } of started) await api.waitForRun(id);
    const pending = async () => {
      for await (const _ of client.webhookEndpoints.deliveries({ status: 'pending' })) return true;
      return false;
    };
    await until(async () => !(await pending()));

    for (const { id } of started) {
      const facts = (await api.facts(id)).filter(({ type }) => (events as readonly string[]).includes(type));
      const told = received.filter(({ fact }) => fact.run_id === id);
      const accepted = told.filter((one) => one.accepted).map(({ fact }) => fact);
      const first = accepted.filter(({ id: event }, index) => accepted.findIndex((one) => one.id === event) === index);
      expect(first).toEqual(facts);
      for (const one of told) expect(one.id).toBe(one.fact.id);
    }
    const [repeated] = received.filter(({ accepted }) => !accepted);
    const copies = received.filter(({ id }) => id === repeated?.id);
    expect(copies.length).toBeGreaterThan(1);
    expect(new Set(copies.map(({ text }) => text)).size).toBe(1);
  });

  it('the programs of docs/webhooks.md send, receive and check one', async () => {
    const document = readFileSync(join(repoRoot, 'docs/webhooks.md'), 'utf8');
    const program = /```js\n(.*?)```/s.exec(document)?.[1] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'rondo-webhooks-'));
    writeFileSync(join(folder, 'webhooks.mjs'), program);
    const { url, key } = api;
    const { stdout } = await promisify(execFile)(process.execPath, ['webhooks.mjs'], {
      cwd: folder,
      env: { RONDO_URL: url, RONDO_API_KEY: key },
    });
    rmSync(folder, { recursive: true });

    expect(stdout).toMatch(/^evt_\w+ signed run\.completed run_\w+ stop$/m);
  });

  it('the commands of docs/webhooks.md list deliveries and send one again', async () => {
    const { url, key } = api;
    const { data } = await api.json<{ data: { id: string }[] }>('GET', '/webhooks/deliveries?limit=1');
    const env = { KEY: key, ID: data[0]?.id ?? '' };

    const printed = await runDocumented('webhooks', { url, cwd: tmpdir(), env });

    expect(printed).toContain(`"id":"${env.ID}"`);
  });
});
