import { setMaxListeners } from 'node:events';
import { type McpDiscovery, type McpServer, accountId, callId, mcpToolId, runId, threadId } from '@rondo/contract';
import {
  type ClaimedRun,
  ConnectionsAwaited,
  TerminalError,
  effectiveSettings,
  tools as builtIn,
  waitForConnections,
} from '@rondo/domain';
import { freshRun } from '@rondo/domain/testing';
import { McpCatalog, type McpCatalogParts } from './mcp-catalog';

const id = runId.parse('run_1');
const thread = threadId.parse('thr_1');
const tickets: McpServer = { name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' };
const notes: McpServer = { name: 'notes', transport: 'stdio', command: 'notes' };
const never = new AbortController().signal;
setMaxListeners(0, never); // every test listens
const newCallId = () => callId.parse('call_1');

const tool = (name: string) => ({
  ...{ name, tool: name, description: 'Does it.', parameters: { type: 'object' as const } },
  ...{ effect_class: 'pure' as const, fingerprint: 'f1' },
});
const connected = (...names: string[]): McpDiscovery => ({ how: 'connected', tools: names.map(tool), refused: [] });

function claimWith(servers: McpServer[]): ClaimedRun {
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the settings are wrong');
  const settings = { ...effective.settings, mcp_servers: servers };
  const run = freshRun({ id, threadId: thread, settings, now: '2026-01-01T00:00:00.000Z' });
  return {
    ...{ runId: id, threadId: thread, workspaceId: thread, epoch: 1, accountId: accountId.parse('acc_1'), run },
    ...{ log: [], earlier: [], executorId: 'exe_1', toolSet: null, stop: undefined, fruitlessClaims: 0 },
  };
}

const usualParts: Omit<McpCatalogParts, 'list'> = {
  builtIn,
  placement: ({ executorId }) => Promise.resolve(executorId ?? 'none'),
  untilConnected: () => Promise.resolve(),
  note: () => Promise.resolve([]),
  newCallId,
  awaitsSecret: () => Promise.resolve(false),
  pauseMs: 1,
};
const createCatalog = (list: (name: string) => Promise<McpDiscovery | undefined>) =>
  new McpCatalog({ ...usualParts, list: (_, { server }) => list(server.name) });

describe('McpCatalog', () => {
  it('returns the built-in tools as they are for a run without servers', async () => {
    const catalog = createCatalog(() => Promise.reject(new Error('no server was to be asked')));
    expect((await catalog.catalogFor(claimWith([]), never)).tools).toBe(builtIn);
  });

  it('adds the tools of each server, and says what came of each', async () => {
    const catalog = createCatalog((name) => Promise.resolve(name === 'notes' ? undefined : connected('tickets__a')));
    const { tools, servers } = await catalog.catalogFor(claimWith([tickets, notes]), never);
    expect(tools.slice(builtIn.length)).toMatchObject([
      { name: 'tickets__a', effect: 'unsafe', source: { kind: 'mcp', server: 'tickets', fingerprint: 'f1' } },
    ]);
    expect(servers).toEqual([
      { type: 'mcp.connected', iteration: 0, data: { server: 'tickets', tools: ['tickets__a'], refused: [] } },
      { type: 'mcp.skipped', iteration: 0, data: { server: 'notes', reason: 'No executor answered for the server.' } },
    ]);
  });

  it('knows the servers that have not answered yet, until all have', async () => {
    const answers = new Map<string, (found: McpDiscovery) => void>();
    const catalog = createCatalog((name) => new Promise((resolve) => answers.set(name, resolve)));
    const found = catalog.catalogFor(claimWith([tickets, notes]), never);
    const starting = () => catalog.readStarting(id).map(({ name }) => name);
    while (answers.size < 2) await new Promise(setImmediate);

    expect(starting()).toEqual(['tickets', 'notes']);
    answers.get('tickets')?.(connected('tickets__a'));
    while (starting().length === 2) await new Promise(setImmediate);
    expect(starting()).toEqual(['notes']);
    answers.get('notes')?.(connected('notes__a'));
    await found;
    expect(starting()).toEqual([]);
  });

  it('believes only a trusted server what its tools do', async () => {
    const catalog = createCatalog(() => Promise.resolve(connected('tickets__a')));
    const trusted = await catalog.catalogFor(claimWith([{ ...tickets, trust_annotations: true }]), never);
    expect(trusted.tools.at(-1)?.effect).toBe('pure');
  });

  it('leaves out a tool that is not what the account accepted, and says how to confirm it', async () => {
    const catalog = new McpCatalog({
      ...usualParts,
      list: () => Promise.resolve(connected('tickets__a', 'tickets__b')),
      note: (account, server, tools) => {
        expect([account, server.name, tools.length]).toEqual(['acc_1', 'tickets', 2]);
        return Promise.resolve([{ id: mcpToolId.parse('mct_1'), tool: 'tickets__b' }]);
      },
    });
    const { tools, servers } = await catalog.catalogFor(claimWith([tickets]), never);
    expect(tools.slice(builtIn.length).map(({ name }) => name)).toEqual(['tickets__a']);
    expect(servers?.[0]?.data).toMatchObject({
      tools: ['tickets__a'],
      refused: [{ tool: 'tickets__b', reason: expect.stringContaining('POST /v1/mcp-tools/mct_1/confirm') }],
    });
  });

  it('leaves out tools that are new to an account that knows too many', async () => {
    const catalog = new McpCatalog({
      ...usualParts,
      list: () => Promise.resolve(connected('tickets__a')),
      note: () => Promise.resolve([{ tool: 'tickets__a' }]),
    });
    const { servers } = await catalog.catalogFor(claimWith([tickets]), never);
    expect(servers?.[0]?.data).toMatchObject({
      tools: [],
      refused: [{ tool: 'tickets__a', reason: expect.stringContaining('DELETE /v1/mcp-tools') }],
    });
  });

  it('skips all servers of a thread for which there is no executor', async () => {
    const catalog = new McpCatalog({
      ...usualParts,
      placement: () => Promise.reject(new TerminalError('sandbox_unavailable', 'No executor has capacity.')),
      list: () => Promise.reject(new Error('no executor was to be asked')),
      note: () => Promise.reject(new Error('there was nothing to note')),
    });
    const { servers } = await catalog.catalogFor(claimWith([tickets]), never);
    expect(servers?.[0]?.data).toEqual({ server: 'tickets', reason: 'No executor has capacity.' });
  });

  it('asks again where no executor answers, as while one starts anew', async () => {
    const answers = [undefined, undefined, connected('tickets__a')];
    const { servers } = await createCatalog(() => Promise.resolve(answers.shift())).catalogFor(
      claimWith([tickets]),
      never,
    );
    expect(servers).toMatchObject([{ type: 'mcp.connected', data: { tools: ['tickets__a'] } }]);
  });

  it('asks no executor while NATS is away, however long that is', async () => {
    let connect = (): void => undefined;
    const isConnected = new Promise<void>((resolve) => (connect = resolve));
    const asked: string[] = [];
    const catalog = new McpCatalog({
      ...usualParts,
      untilConnected: () => isConnected,
      list: (executorId) => Promise.resolve(asked.push(executorId) > 0 ? connected('tickets__a') : undefined),
    });
    const found = catalog.catalogFor(claimWith([tickets]), never);
    await new Promise(setImmediate);
    expect(asked).toEqual([]);

    connect();
    expect((await found).servers).toMatchObject([{ type: 'mcp.connected' }]);
  });

  it('says nothing of a server while the database is away: the run begins again', async () => {
    const away = new Error('the database is away');
    const catalog = new McpCatalog({
      ...usualParts,
      list: () => Promise.resolve(connected('tickets__a')),
      note: () => Promise.reject(away),
    });
    await expect(catalog.catalogFor(claimWith([tickets]), never)).rejects.toBe(away);
  });

  it('asks a server again while a person has to allow a secret in its headers', async () => {
    const answers: (McpDiscovery | undefined)[] = [{ how: 'failed', reason: 'It waits.' }, connected('tickets__a')];
    const asked: string[] = [];
    const catalog = new McpCatalog({
      ...usualParts,
      list: () => Promise.resolve(answers.shift()),
      awaitsSecret: (run) => Promise.resolve(asked.push(run) === 1),
    });
    const { servers } = await catalog.catalogFor(claimWith([tickets]), never);
    expect(servers?.[0]).toMatchObject({ type: 'mcp.connected', data: { tools: ['tickets__a'] } });
    expect(asked).toEqual([id]);
  });

  describe('a server that a person has to connect', () => {
    const page = 'https://rondo.example/oauth/connect?link=x';
    const unconnected: McpDiscovery = { how: 'failed', reason: 'It has to be connected.', is_unconnected: true };
    const settle = (log: ClaimedRun['log'] = [], known: McpDiscovery = connected()) => {
      const asked: (string | undefined)[] = [];
      const catalog = new McpCatalog({
        ...usualParts,
        list: (_, { server, call_id: call }) => {
          if (server.name === 'notes') return Promise.resolve(connected('notes__a'));
          asked.push(call);
          return Promise.resolve(call === undefined ? unconnected : { ...unconnected, connect_page: page });
        },
        known: () => Promise.resolve(known.how === 'connected' ? known.tools : []),
      });
      return { asked, found: catalog.catalogFor({ ...claimWith([tickets, notes]), log }, never) };
    };
    const answered = (action: 'accept' | 'decline' | 'cancel'): ClaimedRun['log'] => {
      const now = '2026-01-01T00:00:00.000Z';
      const waits = waitForConnections([{ id: newCallId(), server: 'tickets', page }], { now, settings: {} });
      const data = { tool_call_id: newCallId(), name: 'connect', key: 'rondo:connect', action, answered_by: 'key_1' };
      return [waits, { type: 'tool.input_given', iteration: 0, data }] as unknown as ClaimedRun['log']; // as they are recorded
    };

    it('keeps the run from its start, if its tools are not known', async () => {
      const { asked, found } = settle();
      const error: unknown = await found.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConnectionsAwaited);
      expect(error).toMatchObject({ servers: [{ id: 'call_1', server: 'tickets', page }] });
      expect(asked).toEqual([undefined, 'call_1']);
    });

    it('does not, if they are', async () => {
      const { asked, found } = settle([], connected('tickets__a'));
      expect((await found).servers).toMatchObject([{ type: 'mcp.connected' }, { type: 'mcp.connected' }]);
      expect(asked).toEqual([undefined]);
    });

    it.each([
      ['decline', 'A person has decided not to connect it.'],
      ['cancel', 'No person has connected it in time.'],
    ] as const)('is skipped after %s', async (action, reason) => {
      expect((await settle(answered(action)).found).servers?.[0]).toMatchObject({
        type: 'mcp.skipped',
        data: { server: 'tickets', reason },
      });
    });

    it('is asked for once more where a person says that it is connected, and it is not', async () => {
      await expect(settle(answered('accept')).found).rejects.toBeInstanceOf(ConnectionsAwaited);
    });
  });

  it('does not wait for a server when the run is stopped', async () => {
    const stop = new AbortController();
    const catalog = createCatalog(() => {
      stop.abort();
      return new Promise(() => undefined);
    });
    const { servers } = await catalog.catalogFor(claimWith([tickets]), stop.signal);
    expect(servers).toMatchObject([{ type: 'mcp.skipped' }]);
  });
});

describe('attack: an executor that says which tools a server has', () => {
  it.each(['execute_command', 'notes__read', 'tickets'])(
    'cannot add %s, which is no tool of the server',
    async (name) => {
      const catalog = createCatalog(() => Promise.resolve(connected(name, 'tickets__a', 'tickets__a')));
      const { tools } = await catalog.catalogFor(claimWith([tickets]), never);
      expect(tools.slice(builtIn.length).map((added) => added.name)).toEqual(['tickets__a']);
    },
  );
});
