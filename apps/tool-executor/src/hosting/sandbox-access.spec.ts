import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json, text } from 'node:stream/consumers';
import { accountId, commandEvent, runId, threadId } from '@rondo/contract';
import { type NatsLink, type SandboxRequest, accessSandbox, connectNats } from '@rondo/messaging';
import { createLogger, newUlid, KeyedMutex } from '@rondo/platform';
import { SandboxAccess } from './sandbox-access';
import { SandboxStates } from './sandbox-states';
import {
  type SandboxProvider,
  SandboxSlots,
  TermsInUse,
  WorkspaceMoved,
  createSandboxProvider,
  sandboxSettings,
} from '../sandboxes';
import { BrowserOperator } from '../tools/browser/browser-operator';
import { PreviewUrls } from '../sites/preview-urls';
import { SiteStore } from '../sites/site-store';
import { bubblewrapPath, sandboxRoot } from '../testing/executor-fixture';

const log = createLogger({ name: 'sandbox-access-spec', level: 'silent' });

let executorLink: NatsLink;
let gatewayLink: NatsLink;
let sandboxes: SandboxProvider;
let access: SandboxAccess;
const executorId = `exe_${newUlid()}`;
/** Threads whose workspaces another executor has by now. */
const moved = new Set<string>();
/** Answers nothing. */
const silent = createServer(() => undefined);
let silentPort = 0;
beforeAll(async () => {
  const url = process.env['TEST_NATS_URL'] ?? '';
  [executorLink, gatewayLink] = await Promise.all([
    connectNats({ url, name: 'executor', log }),
    connectNats({ url, name: 'gateway', log }),
  ]);
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  silentPort = (silent.address() as AddressInfo).port; // it listens on TCP
  const settings = {
    ...{ bubblewrapPath: bubblewrapPath(), root: await sandboxRoot(), transferBytes: 1_000_000 },
    egress: { internalHosts: [`127.0.0.1:${silentPort}`] },
  };
  sandboxes = createSandboxProvider(sandboxSettings.parse(settings), log);
  const previews = new PreviewUrls('http://*.localhost:3000');
  const sites = new SiteStore({ root: settings.root, previews, maxBytes: 1_000 });
  const slots = new SandboxSlots(8, sandboxes, log);
  const states = new SandboxStates({ sandboxes, usdPerHour: 0.5 });
  const hosting = {
    require: (thread: string) => (moved.has(thread) ? Promise.reject(new WorkspaceMoved()) : Promise.resolve()),
  };
  const operator = new BrowserOperator(new KeyedMutex());
  access = new SandboxAccess({
    ...{ nats: executorLink, executorId, sandboxes, slots, previews, sites, states, hosting, operator },
    terms: new TermsInUse(sandboxes),
  });
  access.onApplicationBootstrap();
  await executorLink.connection.flush();
});
afterAll(async () => {
  access.onModuleDestroy();
  await sandboxes.close();
  silent.close();
  await Promise.all([executorLink.close(), gatewayLink.close()]);
});

/** A gateway that asks about one thread. */
function createGateway(thread = threadId.parse(`thr_${newUlid()}`), account = 'acc_1') {
  const ids = { thread_id: thread, account_id: accountId.parse(account) };
  return {
    ask: <Op extends SandboxRequest['op']>(question: Readonly<Record<string, unknown>> & { op: Op }) =>
      accessSandbox(gatewayLink, { executorId }, { ...ids, ...question } as unknown as Extract<
        SandboxRequest,
        { op: Op }
      >),
  };
}

type Gateway = ReturnType<typeof createGateway>;

async function write({ ask }: Gateway, path: string, content: Buffer, maxBytes = 50_000_000): Promise<unknown> {
  const { tunnel } = await ask({ op: 'write', path, max_bytes: maxBytes });
  const reply = json(tunnel.iterator({ destroyOnReturn: false }));
  tunnel.end(content);
  return reply;
}

async function read({ ask }: Gateway, path: string): Promise<Buffer> {
  const { tunnel } = await ask({ op: 'read', path });
  tunnel.end();
  return buffer(tunnel);
}

/** Runs a command of a person, up to its end. */
async function run({ ask }: Gateway, command: string, about: { cwd?: string; timeout_ms?: number } = {}) {
  const { tunnel } = await ask({ op: 'exec', command, timeout_ms: 30_000, ...about });
  tunnel.end();
  const lines = (await text(tunnel)).split('\n').filter((line) => line !== '');
  const events = lines.map((line) => commandEvent.parse(JSON.parse(line)));
  const printed = events.flatMap((event) => (event.type === 'command.output' ? event.text : [])).join('');
  expect(events[0]?.type).toBe('command.started');
  return { printed, ended: events.at(-1) };
}

describe('access to a sandbox', () => {
  it('carries a file of many megabytes, larger than what one transfer to the sandbox may be', async () => {
    const gateway = createGateway();
    const content = randomBytes(12_000_000);

    expect(await write(gateway, 'a/big.bin', content)).toEqual({ size: content.length });
    expect(Buffer.compare(await read(gateway, 'a/big.bin'), content)).toBe(0);
  });

  it('creates nothing for a reader', async () => {
    const { ask } = createGateway();
    expect((await ask({ op: 'status' })).head).toMatchObject({ state: 'absent', provider: 'embedded' });

    await expect(ask({ op: 'list', path: '.', depth: 1 })).rejects.toMatchObject({ code: 'not_found' });
    expect((await ask({ op: 'status' })).head).toMatchObject({ state: 'absent' });
  });

  it('starts, stops and removes the sandbox', async () => {
    const { ask } = createGateway();
    expect((await ask({ op: 'start' })).head).toMatchObject({ state: 'awake' });
    expect((await ask({ op: 'stop' })).head).toMatchObject({ state: 'asleep' });
    await ask({ op: 'remove' });
    expect((await ask({ op: 'status' })).head).toMatchObject({ state: 'deleted', disk_bytes: 0 });
  });

  it('neither reads, writes nor removes what another executor has by now', async () => {
    const thread = threadId.parse(`thr_${newUlid()}`);
    const gateway = createGateway(thread);
    await write(gateway, 'file', Buffer.from('old'));
    moved.add(thread);

    const refused = { code: 'unavailable', message: expect.stringContaining('is on another executor now') };
    await expect(read(gateway, 'file')).rejects.toMatchObject(refused);
    await expect(write(gateway, 'file', Buffer.from('new'))).rejects.toMatchObject(refused);
    for (const op of ['start', 'remove'] as const) await expect(gateway.ask({ op })).rejects.toMatchObject(refused);

    moved.delete(thread);
    expect((await read(gateway, 'file')).toString()).toBe('old');
  });

  it('tells since when a sandbox is in its state, what it takes, and what it has cost', async () => {
    const thread = threadId.parse(`thr_${newUlid()}`);
    const gateway = createGateway(thread);
    const none = threadId.parse('thr_none');
    const before = new Date().toISOString();
    await write(gateway, 'file', Buffer.alloc(300_000, 1));
    await gateway.ask({ op: 'stop' });
    const state = async () => {
      const { head } = await gateway.ask({ op: 'states', thread_ids: [none, thread] });
      const { states } = head;
      expect(states[0]).toEqual({ thread_id: none, provider: 'embedded', state: 'absent' });
      return states[1];
    };

    let asleep = await state();
    while (asleep?.disk_bytes === undefined) asleep = await state(); // measured once it has stopped

    expect(asleep).toMatchObject({ thread_id: thread, state: 'asleep', provider: 'embedded' });
    expect(asleep.disk_bytes).toBeGreaterThanOrEqual(300_000);
    expect([asleep.since, asleep.used_at].every((at) => (at ?? '') >= before)).toBe(true);
    expect(asleep.running_ms).toBeGreaterThan(0);
    expect(asleep.cost_usd).toBeCloseTo(((asleep.running_ms ?? 0) / 3_600_000) * 0.5, 6);
    expect(await state()).toEqual(asleep);

    await sandboxes.archive(thread);
    const archived = await state();
    expect(archived).toMatchObject({ state: 'archived', running_ms: asleep.running_ms });
    expect(archived?.disk_bytes).toBeLessThan(asleep.disk_bytes);
  });

  it('refuses a file beyond the limit and leaves nothing of it', async () => {
    const gateway = createGateway();
    await expect(write(gateway, 'huge', Buffer.alloc(2_000_000), 1_000_000)).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await gateway.ask({ op: 'list', path: '.', depth: 1 })).head).toEqual({ entries: [], truncated: false });
  });

  it('refuses paths out of the workspace, directories and what is not there', async () => {
    const gateway = createGateway();
    await write(gateway, 'd/file', Buffer.from('x'));
    await expect(read(gateway, '../../etc/passwd')).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(read(gateway, 'd')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(read(gateway, 'none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(gateway.ask({ op: 'delete', path: 'd', recursive: false })).rejects.toMatchObject({
      code: 'not_a_file',
    });
    await gateway.ask({ op: 'delete', path: 'd', recursive: true });
    await expect(read(gateway, 'd/file')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('does not understand what a later version asks', async () => {
    const { ask } = createGateway();
    await expect(ask({ op: 'teleport' as 'status' })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('the preparation of a workspace', () => {
  it('says to the account of its run what it is at', async () => {
    const gateway = createGateway();
    const run = { run_id: runId.parse(`run_${newUlid()}`) };
    const isAsked = once(silent, 'request');
    const url = `http://127.0.0.1:${silentPort}/site.git`;
    const { tunnel } = await gateway.ask({ op: 'prepare', ...run, environment: { repository: { url } } });
    await isAsked;

    const { head } = await gateway.ask({ op: 'preparation', ...run });
    expect(head.step).toEqual({ name: 'repository', since: expect.any(String) });
    const ofOther = await createGateway(undefined, 'acc_2').ask({ op: 'preparation', ...run });
    expect(ofOther.head.step).toBeNull();

    tunnel.destroy();
    silent.closeAllConnections();
  });
});

describe('a command of a person', () => {
  it('prints as it goes, and continues where the last one ended', async () => {
    const gateway = createGateway();

    const first = await run(gateway, 'mkdir app; cd app; export COLOUR=blue; echo one; echo two >&2; false');
    const second = await run(gateway, 'echo $COLOUR; pwd');

    expect(first).toMatchObject({ printed: 'one\ntwo\n', ended: { ending: 'exited', exit_code: 1 } });
    expect(second).toMatchObject({ printed: 'blue\n/workspace/app\n', ended: { exit_code: 0, cwd: '/workspace/app' } });
    expect(await run(gateway, 'pwd', { cwd: '.' })).toMatchObject({ printed: '/workspace\n' });
  });
});

describe('attack: a command in a sandbox', () => {
  it('of the workspace that another executor has by now', async () => {
    const thread = threadId.parse(`thr_${newUlid()}`);
    moved.add(thread);

    await expect(run(createGateway(thread), 'ls')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
