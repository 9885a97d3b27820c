import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { accountId, runId } from '@rondo/contract';
import {
  type NatsLink,
  OpenExecutors,
  requestMcpList,
  requestRemoval,
  connectNats,
  natsTransportOptions,
  signals,
} from '@rondo/messaging';
import { SeverableProxy } from '@rondo/messaging/testing';
import { createLogger } from '@rondo/platform';
import { firstValueFrom } from 'rxjs';
import { environment } from './config';
import { type Executor, startExecutor } from './start-executor';
import { bubblewrapPath, sandboxRoot } from './testing/executor-fixture';
import { ToolCaller } from './testing/tool-caller';

const log = createLogger({ name: 'tool-executor-spec', level: 'silent' });

function natsUrl(): string {
  const url = process.env['TEST_NATS_URL'];
  if (url === undefined) throw new Error('TEST_NATS_URL must name a NATS server with JetStream');
  return url;
}

describe('an executor', () => {
  let root: string;
  let nats: NatsLink;
  let placements: ClientProxy;
  let executor: Executor | undefined;
  let caller: ToolCaller;

  const place = async () => {
    const request = placements.send<unknown>(signals.place.pattern, { thread_id: 'thr_1' });
    return signals.place.answer.parse(await firstValueFrom(request)).executor_id;
  };
  const start = async (more: Record<string, string> = {}) => {
    const config = environment.parse({
      PORT: '0',
      NATS_URL: natsUrl(),
      SANDBOX_ROOT: root,
      EXECUTOR_ID_FILE: join(root, 'executor-id'),
      BWRAP_PATH: bubblewrapPath(),
      TOOL_DRAIN_S: '0',
      ...more,
    });
    executor = await startExecutor(config, log);
    return executor.url;
  };
  const stop = async () => {
    await executor?.close();
    executor = undefined;
  };

  beforeAll(async () => {
    root = await sandboxRoot();
    nats = await connectNats({ url: natsUrl(), name: 'spec', log });
    const options = natsTransportOptions({ url: natsUrl(), name: 'spec' });
    placements = ClientProxyFactory.create({ transport: Transport.NATS, options });
  });
  afterAll(async () => {
    await placements.close();
    await nats.close();
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(() => {
    caller = new ToolCaller(nats, place);
  });
  afterEach(async () => {
    caller.tools.close(new Error('the spec is over'));
    await stop();
  });

  it('accepts a thread and runs its calls', async () => {
    await start();

    const answer = await caller.execute('execute_command', { command: 'echo hello; echo world >&2', blocking: true });

    expect(answer).toMatchObject({
      how: 'answered',
      result: { success: true, output: 'hello\nworld\n', exit_code: 0 },
    });
    expect(caller.deltas.map(({ text }) => text).join('')).toBe('hello\nworld\n');
  });

  it('answers placement requests as soon as it has started, over a slow connection too', async () => {
    const server = new URL(natsUrl());
    const wire = new SeverableProxy({ host: server.hostname, port: Number(server.port), delayMs: 100 });
    await wire.mend();

    try {
      await start({ NATS_URL: wire.findUrl(natsUrl()) });
      expect(await place()).toMatch(/^exe_/);
    } finally {
      await stop();
      await wire.close();
    }
  });

  it('reports that it is ready, and its tool calls as metrics', async () => {
    const url = await start();
    await caller.execute('list_files', {});
    await caller.execute('made_up', {});

    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('rondo_tool_call_seconds_count{tool="list_files",outcome="completed"} 1');
    expect(metrics).toContain('rondo_tool_call_seconds_count{tool="unknown",outcome="failed"} 1');
    expect(metrics).toContain('rondo_tool_calls_running 0');
    expect(metrics).toContain('rondo_tool_slots 32');
    expect(metrics).toContain('rondo_tool_slots_in_use 0');
    expect(metrics).toContain('rondo_tool_calls_waiting 0');
    expect(metrics).toContain('rondo_sandbox_usable 1');
    expect(metrics).toContain('rondo_sandboxes_awake 1');
    expect(metrics).toContain('rondo_sandboxes_max 128');
    expect(metrics).toContain('rondo_sandbox_places_waiting 0');
    expect(metrics).toContain('rondo_sandboxes_warm 0');
    expect(metrics).toContain('rondo_sandboxes_warm_used 0');
  });

  it('kills a stopped command and reports a verified death (I7)', async () => {
    await start();
    const stopping = new AbortController();
    caller.onDelta = () => stopping.abort();

    const answer = await caller.execute(
      'execute_command',
      { command: 'echo up; sleep 60', blocking: true },
      stopping.signal,
    );

    expect(answer).toMatchObject({ how: 'stopped', verifiedDeadAt: expect.any(String) });
  });

  it('runs calls of a thread concurrently', async () => {
    await start();
    await caller.execute('list_files', {});

    // Each ends only once all have begun.
    const command = 'touch begun-$$; until [ $(ls begun-* | wc -l) = 5 ]; do sleep 0.05; done';
    const commands = Array.from({ length: 5 }, () => ({ command, blocking: true }));
    const answers = await Promise.all(commands.map((command) => caller.execute('execute_command', command)));

    expect(answers).toMatchObject(commands.map(() => ({ how: 'answered', result: { success: true, exit_code: 0 } })));
  });

  it('answers the calls that it kills at shutdown, and restarts under the same id with the workspace', async () => {
    await start();
    const before = await place();
    const up = new Promise<void>((resolve) => (caller.onDelta = resolve));
    const running = caller.execute('execute_command', {
      command: 'echo kept > file; echo up; sleep 60',
      blocking: true,
    });
    await up;

    await stop();

    expect(await running).toMatchObject({ how: 'answered', result: { success: false } });
    await start();
    expect(await place()).toBe(before);
    expect(await caller.execute('read_file', { file_path: 'file' })).toMatchObject({ result: { output: 'kept\n' } });
  });

  it('lets a short call finish at shutdown', async () => {
    await start({ TOOL_DRAIN_S: '5' });
    const up = new Promise<void>((resolve) => (caller.onDelta = resolve));
    const running = caller.execute('execute_command', { command: 'echo up; sleep 0.5; echo done', blocking: true });
    await up;

    await stop();

    expect(await running).toMatchObject({ result: { success: true, output: 'up\ndone\n' } });
  });

  it('announces that it accepts threads, from its start until its shutdown', async () => {
    const open = new OpenExecutors(nats);
    await nats.ping();
    await start();
    const id = await place();
    while (open.draw() !== id) await sleep(5);

    await stop();

    const draws = () => Array.from({ length: 20 }, () => open.draw()); // Executors of other specs announce themselves, too.
    while (draws().includes(id)) await sleep(5);
  });

  it('announces its sandbox provider, and that threads stay with this executor', async () => {
    const announced = nats.connection.subscribe(nats.names.executorOpen('*'));
    await nats.ping();
    await start();
    const id = await place();

    for await (const message of announced) {
      if (message.subject !== nats.names.executorOpen(id)) continue; // Executors of other specs announce themselves, too.
      expect(message.json()).toMatchObject({ is_open: true, provider: { name: 'embedded', affinity: 'executor' } });
      break;
    }
  });

  it('announces that it accepts no thread while all its sandboxes are in use', async () => {
    const open = new OpenExecutors(nats);
    await nats.ping();
    await start({ SANDBOX_MAX: '1' });
    const id = await place();
    while (open.draw() !== id) await sleep(5);
    const stopping = new AbortController();
    const up = new Promise<void>((resolve) => (caller.onDelta = resolve));
    const command = { command: 'echo up; sleep 60', blocking: true };
    const running = caller.execute('execute_command', command, stopping.signal);
    await up;

    const draws = () => Array.from({ length: 20 }, () => open.draw()); // Executors of other specs announce themselves, too.
    while (draws().includes(id)) await sleep(5);
    expect(await place()).toBe(id); // Without another executor it accepts the thread, and its calls wait.

    stopping.abort();
    await running;
    while (!draws().includes(id)) await sleep(5);
  });

  it('accepts no thread once it shuts down, while a running call may finish', async () => {
    await start({ TOOL_DRAIN_S: '5' });
    const up = new Promise<void>((resolve) => (caller.onDelta = resolve));
    const running = caller.execute('execute_command', { command: 'echo up; sleep 1; echo done', blocking: true });
    const order: string[] = [];
    void running.then(() => order.push('call ended'));
    await up;

    const stopped = stop();
    await sleep(200);
    await expect(place()).rejects.toThrow('no subscribers');
    order.push('refused');
    await stopped;

    expect(await running).toMatchObject({ result: { success: true, output: 'up\ndone\n' } });
    expect(order).toEqual(['refused', 'call ended']);
  });

  it('deletes the workspace of a thread on request', async () => {
    await start();
    const id = await place();
    await caller.execute('execute_command', { command: 'mkdir -m 0500 locked; echo x > file', blocking: true });
    const workspace = join(root, caller.threadId);
    expect(existsSync(workspace)).toBe(true);

    expect(await requestRemoval(nats, id, caller.threadId)).toBe(true);
    expect(existsSync(workspace)).toBe(false);
    const repeat = async () => {
      while (!(await requestRemoval(nats, id, caller.threadId))) await sleep(20); // One that takes longer than its time limit is repeated.
    };
    await Promise.all(Array.from({ length: 20 }, repeat));

    await stop();
    expect(await requestRemoval(nats, id, caller.threadId)).toBe(false);
  });

  it('says nothing of a server that it was starting when it shut down, since the next process will be asked', async () => {
    const url = await start();
    const id = await place();
    const listed = requestMcpList(nats, id, {
      ...{ thread_id: caller.threadId, run_id: runId.parse('run_1'), account_id: accountId.parse('acc_1') },
      ...{ server: { name: 'slow', transport: 'stdio', command: 'sleep 60' }, start_ms: 3_600_000 },
    });
    while (!(await (await fetch(`${url}/metrics`)).text()).includes('rondo_sandboxes_awake 1')) await sleep(20);

    await stop();

    expect(await listed).toBeUndefined();
  });

  it('does not start while another executor with its id is running', async () => {
    await start();

    const second = environment.parse({
      PORT: '0',
      NATS_URL: natsUrl(),
      SANDBOX_ROOT: root,
      EXECUTOR_ID_FILE: join(root, 'executor-id'),
    });

    await expect(startExecutor(second, log)).rejects.toThrow('is running as this executor already');
  });

  it('is ready without isolation, but refuses threads and advises what to install', async () => {
    const known = await start().then(place);
    await stop();
    const url = await start({ BWRAP_PATH: '/nowhere/bwrap' });

    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('rondo_sandbox_usable 0');
    await expect(place()).rejects.toMatchObject({ message: expect.stringContaining('Install bubblewrap') });

    const placed = new ToolCaller(nats, async () => known);
    expect(await placed.execute('list_files', {})).toMatchObject({
      how: 'answered',
      result: { success: false, error: expect.stringContaining('Install bubblewrap') },
    });
    placed.tools.close(new Error('the spec is over'));
  });
});
