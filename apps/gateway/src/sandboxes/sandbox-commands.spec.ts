import { request } from 'node:http';
import type { CommandEvent } from '@rondo/contract';
import { threadId } from '@rondo/contract';
import { TunnelError } from '@rondo/messaging';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestExecutor } from '../testing/test-executor';

const gateway = RunningGateway.forSuite();
let executor: TestExecutor;
beforeAll(async () => {
  executor = await TestExecutor.start();
});
afterAll(async () => {
  await executor.close();
});

const started: CommandEvent = { type: 'command.started', command_id: 'cmd_1' };
const printed: CommandEvent = { type: 'command.output', text: 'one\u2028two\n' };
const nothing = { exit_code: null, cwd: null, duration_ms: null, output_end: null, detail: null };
const ended: CommandEvent = { ...nothing, type: 'command.ended', ending: 'exited', exit_code: 0, cwd: '/workspace' };
const toLines = (...events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

type Terminal = Parameters<TestExecutor['terminals']['set']>[1];

/** The path of the commands of a sandbox at the test executor. */
async function aTerminal(write: Terminal = (tunnel) => tunnel.end(toLines(started, printed, ended))) {
  const thread = (await gateway.as().post('/v1/threads').send({}).expect(201)).body.id as string;
  await gateway.parts.sandboxes.keep(threadId.parse(thread), executor.id);
  executor.terminals.set(thread, write);
  const { body } = await gateway.as().get(`/v1/threads/${thread}/sandbox`).expect(200);
  return { sandbox: body.id as string, path: `/v1/sandboxes/${body.id}/commands` };
}

const run = (path: string, body: object = { command: 'ls' }, key?: string) => gateway.as(key).post(path).send(body);

const readEvents = (stream: string): CommandEvent[] =>
  stream
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [name, data = ''] = part.split('\n');
      const event = JSON.parse(data.replace('data: ', ''));
      expect(name).toBe(`event: ${event.type}`);
      return event;
    });

describe('a command of a person in a sandbox', () => {
  it('is streamed from its start to its end, with the limits that were asked for', async () => {
    const asked: object[] = [];
    const { path } = await aTerminal((tunnel, { command, cwd, timeout_ms: ms }) => {
      asked.push({ command, cwd, ms });
      const bytes = Buffer.from(toLines(started, printed, ended));
      for (const byte of bytes) tunnel.write(Buffer.of(byte)); // every character is cut somewhere
      tunnel.end();
    });

    const answer = await run(path, { command: 'ls', cwd: 'app', timeout_s: 5 }).expect(200);

    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(readEvents(answer.text)).toEqual([started, printed, ended]);
    expect(asked).toEqual([{ command: 'ls', cwd: 'app', ms: 5_000 }]);
  });

  it('is in the audit log, without what was run', async () => {
    const { path, sandbox } = await aTerminal();

    await run(path, { command: 'echo correct-horse' }).expect(200);

    const { body } = await gateway.as().get('/v1/audit?action=sandbox.command').expect(200);
    expect(body.data[0]).toMatchObject({ target: sandbox, outcome: 'done' });
    expect(JSON.stringify(body)).not.toContain('correct-horse');
  });

  it('has an unknown outcome where its executor is lost', async () => {
    let leave: () => void = () => undefined;
    const { path } = await aTerminal((tunnel) => {
      leave = () => void tunnel.destroy(new TunnelError('executor_away', 'The executor shuts down.'));
      tunnel.write(toLines(started, printed));
    });

    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ command: 'ls' });
    const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body }); // it begins with the first event
    leave();
    const events = readEvents(await answer.text());

    expect(events.at(-1)).toEqual({
      ...{ ...nothing, type: 'command.ended' },
      ...{ ending: 'unknown', detail: 'The executor shuts down.' },
    });
  });

  it('is refused where it cannot start, and by an executor of an earlier version', async () => {
    const full = await aTerminal((tunnel) => tunnel.destroy(new TunnelError('unavailable', 'No place is free.')));
    expect((await run(full.path).expect(503)).body).toMatchObject({ code: 'sandbox_unavailable' });

    executor.refusal = new TunnelError('invalid_request', 'This executor does not know the request.');
    expect((await run(full.path).expect(409)).body).toMatchObject({
      ...{ code: 'sandbox_refused', detail: expect.stringContaining('runs no commands of people') },
    });
  });

  it('is given up at the executor when its client leaves', async () => {
    const { path } = await aTerminal((tunnel) => tunnel.write(toLines(started)));
    const before = executor.openTunnels;
    const sent = request(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' },
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify({ command: 'sleep 600' }));
    await executor.untilTunnels(before + 1);

    sent.destroy();

    await executor.untilTunnels(before);
  });

  it.each([
    [{}, 'command'],
    [{ command: '' }, 'command'],
    [{ command: 'ls', cwd: '' }, 'cwd'],
    [{ command: 'ls', timeout_s: 601 }, 'timeout_s'],
    [{ command: 'ls', session: 'x' }, 'session'],
  ])('is not run by a body like no. %#', async (body, field) => {
    const { path } = await aTerminal();

    expect((await run(path, body).expect(422)).body).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
  });
});

describe('a command with an idempotency key', () => {
  it('is never run twice, whatever became of it', async () => {
    let runs = 0;
    const { path } = await aTerminal((tunnel) => {
      runs += 1;
      if (runs === 1) tunnel.end(toLines(started, printed, ended));
      else tunnel.destroy();
    });
    const send = (key: string, command: string) =>
      run(path, { command })
        .set('Idempotency-Key', key)
        .then((answer) => answer);

    expect((await send('once', 'ls')).status).toBe(200);
    expect((await send('once', 'ls')).body).toMatchObject({ status: 409, code: 'idempotency_key_used' });
    expect((await send('once', 'pwd')).body).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    expect((await send('lost', 'ls')).status).toBeGreaterThanOrEqual(400);
    expect((await send('lost', 'ls')).body).toMatchObject({ status: 409, code: 'idempotency_in_flight' });
    expect(runs).toBe(2);
  });
});

describe('attack: a command in a sandbox', () => {
  it('of another account', async () => {
    const { path } = await aTerminal();

    const refused = await run(path, { command: 'ls' }, await gateway.toKey('stranger')).expect(404);

    expect(refused.body.code).toBe('sandbox_not_found');
  });

  it('with a key that only reads', async () => {
    const { path } = await aTerminal();
    const { body } = await gateway
      .as()
      .post('/v1/api-keys')
      .send({ name: 'r', scopes: ['read'] })
      .expect(201);

    await run(path, { command: 'ls' }, body.key).expect(403);
  });

  it('with a client token of the person whose thread it is', async () => {
    const { body } = await gateway
      .as()
      .post('/v1/client-tokens')
      .send({ user: 'ann', scopes: ['read', 'send', 'answer', 'files'] })
      .expect(201);
    const { path } = await aTerminal();

    await run(path, { command: 'ls' }, body.token).expect(403);
  });

  it.each([
    ['no JSON', 'nonsense\n'],
    ['another form', toLines({ type: 'command.ended', ending: 'won' })],
    ['a line without an end', 'x'.repeat(1_100_000)],
  ])('whose executor, taken over, writes %s', async (_, written) => {
    const { path } = await aTerminal((tunnel) => tunnel.write(`${toLines(started)}${written}`));

    const events = readEvents((await run(path).expect(200)).text);

    expect(events.at(-1)).toMatchObject({ type: 'command.ended', ending: 'unknown' });
  });
});
