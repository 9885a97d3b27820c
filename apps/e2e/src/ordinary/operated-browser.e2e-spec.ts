import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserScreen } from '@rondo/contract';
import { type Fact, type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { Client } from 'pg';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

const password = 'correct-horse-battery-staple';
const place = (top: number) => `style="position:fixed;left:100px;top:${top}px;width:300px;height:40px"`;
const page = `<!doctype html><title>Log in</title><form method="post" action="/login">
<input name="user" ${place(100)}><input name="password" type="password" ${place(200)}><button ${place(300)}>Log in</button></form>`;
const server = `
const { createServer } = require('http');
const { createHash } = require('crypto');
const page = require('fs').readFileSync('login.html', 'utf8');
createServer(async (request, response) => {
  response.setHeader('content-type', 'text/html');
  if (request.method === 'GET') return response.end(/session=open/.test(request.headers.cookie) ? '<title>Account</title><h1>Balance: 42</h1>' : page);
  let body = '';
  for await (const part of request) body += part;
  const given = new URLSearchParams(body).get('password');
  const isRight = createHash('sha256').update(given).digest('hex') === '${createHash('sha256').update(password).digest('hex')}';
  response.writeHead(303, { location: '/', ...(isRight && { 'set-cookie': 'session=open' }) }).end();
}).listen(8000);`;
const tools = ['create_file', 'execute_command', 'browser_navigate_to', 'browser_wait', 'web_browser_takeover'];

describe('a browser that a person operates', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  it('is logged in by the person, after which the run goes on behind the login', async () => {
    const run = await client.createRun({
      ...scriptInput('a login', [
        { calls: [call('create_file', { file_path: 'login.html', file_contents: page })] },
        { calls: [call('create_file', { file_path: 'server.js', file_contents: server })] },
        { calls: [command('(node server.js &) ; until (echo > /dev/tcp/127.0.0.1/8000) 2> /dev/null; do :; done')] },
        { calls: [call('browser_navigate_to', { url: 'http://localhost:8000/' })] },
        { calls: [call('web_browser_takeover', { text: 'Please log in.' })] },
        { calls: [call('browser_wait', { seconds: 0 })] },
        { text: 'The balance is 42.' },
      ]),
      tools,
    });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'waiting_input' });
    expect((await client.facts(run.id)).filter(({ type }) => type === 'tool.failed')).toEqual([]);
    const { id } = await client.json<{ id: string }>('GET', `/threads/${run.thread_id}/sandbox`);
    const look = () => client.json<BrowserScreen>('GET', `/sandboxes/${id}/browser`);
    const act = (action: object) => client.json<BrowserScreen>('POST', `/sandboxes/${id}/browser/actions`, { action });

    expect(await look()).toMatchObject({ url: 'http://localhost:8000/', title: 'Log in', problem: null });
    await act({ type: 'click', x: 200, y: 120 });
    await act({ type: 'text', text: 'ada' });
    await act({ type: 'keys', keys: 'Tab' });
    await act({ type: 'text', text: password });
    await act({ type: 'keys', keys: 'Enter' });
    while ((await look()).title !== 'Account') await delay(50);
    await client.json('POST', `/runs/${run.id}/input`, { content: 'I have logged in.' });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(titles(facts)).toEqual(['Log in', 'Account']);
    expect((await client.toolOutputs(run.id)).at(-1)).toContain('Balance: 42');
    expect(await look()).toMatchObject({ title: 'Account' });
    await expectNowhere(password);
  });

  /** In no table and no log. */
  async function expectNowhere(secret: string): Promise<void> {
    const database = new Client({ connectionString: rondo.infrastructure.env.DATABASE_URL });
    await database.connect();
    try {
      const { rows: tables } = await database.query<{ name: string }>(
        `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
         where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
      );
      expect(tables.length).toBeGreaterThan(20);
      for (const { name } of tables) {
        const { rows } = await database.query(`select 1 from ${name} as one where one::text like $1`, [`%${secret}%`]);
        expect([name, rows.length]).toEqual([name, 0]);
      }
    } finally {
      await database.end();
    }
    for (const { name } of rondo.services.all)
      expect(readFileSync(join(rondo.directory, 'logs', `${name}.log`), 'utf8')).not.toContain(secret);
    expect(JSON.stringify(await rondo.modelRequests())).not.toContain(secret);
  }
});

const titles = (facts: readonly Fact[]) =>
  facts.flatMap(({ type, data }) => (type === 'browser.state' ? [(data as { title: string }).title] : []));
