import { type RecordedFact, accountId, mcpServer, recordedFact, runId, skillId, threadId } from '@rondo/contract';
import { covers } from '../released/lost-rights';
import { NatsRunFeed } from '../run-feed/run-feed';
import { OwnNatsServer } from '../testing/own-nats-server';
import { ProtocolRecorder } from '../testing/protocol-recorder';
import { RecordedLog, createToolStreams } from '../testing/test-nats';
import { aCall, answered, never } from '../testing/tool-call-fixture';
import { CallRecords } from '../tool-calls/call-records';
import { NatsTools } from '../tool-calls/client/nats-tools';
import { PendingCancellations } from '../tool-calls/client/call-cancellation';
import { ToolCallConsumer } from '../tool-calls/executor/tool-call-consumer';
import {
  answerMcpDiscoveries,
  answerMcpLists,
  answerMcpPrompts,
  longestAnswerMs,
  requestMcpDiscovery,
  requestMcpList,
  requestMcpPrompts,
} from '../tool-calls/mcp-requests';
import { answerMcpTokens, requestMcpToken } from '../tool-calls/mcp-token-requests';
import { OpenExecutors, announceExecutor } from '../tool-calls/open-executors';
import {
  answerAdoptions,
  answerRemovals,
  answerRunEnds,
  requestAdoption,
  requestRemoval,
  requestRunEnd,
} from '../tool-calls/sandbox-requests';
import { ToolStreams, toolStreamConfigs } from '../tool-calls/tool-streams';
import { HeardRunHolders, announceRunHolder } from '../queues/signs-of-life';
import { WorkSignal } from '../queues/work-signal';
import { ToolSupport } from '../tool-calls/tool-support';
import { answerSecrets, requestSecret } from '../tool-calls/secret-requests';
import { answerSkills, requestSkill } from '../tool-calls/skill-requests';
import { answerHosting, requestHosting } from '../tool-calls/workspace-hosting';
import { builtInTools } from '@rondo/domain';
import { openTunnel, serveTunnels } from '../tunnels/executor-tunnels';
import { type NatsLink, connectNats } from './nats-link';
import { type NatsService, allNatsPermissions, natsPermissions, natsServices } from './permissions';
import { signals } from './signals';

const thread = threadId.parse('thr_1');
const run = runId.parse('run_1');
const account = accountId.parse('acc_1');
const mcp = mcpServer.parse({ name: 'notes', transport: 'streamable_http', url: 'https://example.com/mcp' });
const envelope = { v: 1, run_id: run, thread_id: thread, iteration: 1, epoch: 1, at: '2030-01-01T00:00:00.000Z' };
const fact = recordedFact.parse({ id: 'evt_1', seq: 1, type: 'run.resumed', ...envelope, data: { reason: 'input' } });

/** A service as the server knows it: its user, its permissions, and what it has asked of the server. */
class Service {
  private constructor(
    readonly link: NatsLink,
    private readonly recorder: ProtocolRecorder,
    private readonly log: RecordedLog,
  ) {}

  static async start(url: string, name: string): Promise<Service> {
    const recorder = await ProtocolRecorder.start(url);
    const log = new RecordedLog();
    return new Service(await connectNats({ url: recorder.url, name, log }), recorder, log);
  }

  /** The rights that it has not used. */
  async unused(kind: NatsService, executor: string): Promise<string[]> {
    await this.link.connection.flush();
    const rights = natsPermissions(kind === 'tool-executor' ? { executor } : kind);
    return (['publish', 'subscribe'] as const).flatMap((verb) => {
      const spoken = [...this.recorder.spoken[verb]];
      return rights[verb].filter((right) => !spoken.some((subject) => covers(right, subject)));
    });
  }

  /** How often the server has reported an error, for example a subject that is not permitted. */
  get errors(): readonly string[] {
    return this.log.lines.filter((line) => line.includes('error') || line.includes('ended'));
  }

  async close(): Promise<void> {
    await this.link.close();
    await this.recorder.close();
  }
}

/**
 * The functions with which services use NATS, each as the user that calls it in production. Signals that Nest's transport sends
 * are published on the subjects that are declared for them.
 */
describe('each permission on NATS', () => {
  let server: OwnNatsServer;
  let services: Record<NatsService, Service>;
  const cleanups: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    server = await OwnNatsServer.start();
    const start = (user: string) => Service.start(server.findUrl(user), user);
    services = {
      gateway: await start('gateway'),
      'agent-worker': await start('agent-worker'),
      summarizer: await start('summarizer'),
      'tool-executor': await start(server.executorId),
    };
    await callTools();
    await answerWorkers();
    await watchRuns();
    await giveSignsOfLife();
    await announceWork();
    await sendSignals();
  });
  afterAll(async () => {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
    await Promise.all(natsServices.map((name) => services[name].close()));
    await server.stop();
  });

  const findLink = (service: NatsService) => services[service].link;

  /** The streams of another version are updated; then a call is executed, and one is cancelled. */
  async function callTools() {
    const owner = await connectNats({ url: server.url, name: 'owner', log: new RecordedLog() });
    cleanups.push(() => owner.close());
    const { streams: api } = await new ToolStreams(owner).manager;
    for (const config of toolStreamConfigs(owner.names)) await api.add({ ...config, max_bytes: 1_000_000 });

    const [nats, executorLink] = [findLink('agent-worker'), findLink('tool-executor')];
    const executorId = server.executorId;
    const streams = createToolStreams(nats);
    await streams.ensure();
    const executorStreams = new ToolStreams(executorLink, { createsStreams: false });
    const pendingCancellations = new PendingCancellations(nats);
    const place = { runId: run, accountId: account, threadId: thread, epoch: 1 };
    const tools = new NatsTools({
      ...{ nats, streams, pendingCancellations, ...place, toolSet: builtInTools },
      placement: () => Promise.resolve(executorId),
      onOutput: () => undefined,
    });
    cleanups.push(() => tools.close(new Error('the spec is over')));
    const consumer = new ToolCallConsumer({
      ...{ nats: executorLink, streams: executorStreams, executorId },
      slots: { total: 2, perAccount: 2, perThread: 2 },
      handle: (_call, { signal, output }) => {
        output('a line');
        return signal.aborted ? Promise.resolve(stopped) : Promise.resolve(answered('done'));
      },
    });
    consumer.start();
    cleanups.push(() => consumer.close({ graceMs: 0, reason: new Error('the spec is over') }));

    const [call, pure] = [aCall('unsafe', run), aCall('pure', run)];
    await expect(tools.execute(call, never)).resolves.toMatchObject({ how: 'answered' });
    await expect(tools.execute(pure, never)).resolves.toMatchObject({ how: 'answered' });

    const key = { runId: call.run_id, callId: call.id, attempt: call.attempt };
    for (const records of [
      new CallRecords(nats, streams, executorId),
      new CallRecords(executorLink, executorStreams, executorId),
    ]) {
      await expect(records.reply(key)).resolves.toMatchObject({ how: 'answered' });
      await expect(records.claimant(key)).resolves.toEqual(expect.any(String));
    }
    await new CallRecords(nats, streams, executorId).isQueued(key);
    await new CallRecords(nats, streams, executorId).claim({ ...key, attempt: 2 }, 'withdrawn');
    const cancelled = tools.execute(aCall('unsafe', run), AbortSignal.abort(new Error('stopped')));
    await expect(cancelled).resolves.toMatchObject({ how: 'stopped' });
    nats.connection.publish(nats.names.toolCancel(executorId), '{}');
  }

  /** What workers and gateways ask of executors, and executors of workers. */
  async function answerWorkers() {
    const [worker, executor, gateway] = [findLink('agent-worker'), findLink('tool-executor'), findLink('gateway')];
    const id = server.executorId;
    const discovery = { status: 'unreachable', error: 'not started' } as never;
    cleanups.push(
      answerRunEnds(executor, id, () => Promise.resolve([])),
      answerRemovals(executor, id, () => Promise.resolve()),
      answerAdoptions(executor, id, () => Promise.resolve('adopted')),
      answerMcpLists(executor, id, () => Promise.resolve(discovery)),
      answerMcpDiscoveries(executor, id, () => Promise.resolve(discovery)),
      answerMcpPrompts(executor, id, () => Promise.resolve({ how: 'listed', prompts: [], refused: [] })),
      answerHosting(worker, () => Promise.resolve({ deleted: [] })),
      answerSecrets(worker, () => Promise.resolve({ how: 'granted', secrets: [] })),
      answerSkills(worker, () => Promise.resolve({ how: 'unknown' })),
      answerMcpTokens(gateway, () => Promise.resolve({ how: 'missing', page: null })),
      serveTunnels(executor, id, { accept: () => Promise.resolve({ head: {} }) }),
    );
    const [heardByWorker, heardByGateway] = [new OpenExecutors(worker), new ToolSupport(gateway)];
    await Promise.all([worker, executor, gateway].map((link) => link.ping()));
    cleanups.push(announceExecutor(executor, id, { isOpen: () => Promise.resolve(true) }));

    expect(await heardByWorker.drawWithin(5_000)).toBe(id);
    await gateway.ping();
    expect(heardByGateway.executors.map((heard) => heard.id)).toEqual([id]);
    expect(await requestRunEnd(worker, id, { threadId: thread, runId: run })).toEqual([]);
    expect(await requestRemoval(worker, id, thread)).toBe(true);
    expect(await requestAdoption(worker, id, { threadId: thread, from: 'exe_lost' })).toBe('adopted');
    expect(await requestHosting(executor, id, { asked: [thread] })).toEqual({ deleted: [] });
    expect(await requestSecret(executor, id, { ask: 'grants', run_id: run })).toEqual({ how: 'granted', secrets: [] });
    const skill = { skill_id: skillId.parse('skl_1'), version: 1 };
    expect(await requestSkill(executor, id, { ask: 'files', run_id: run, ...skill })).toEqual({ how: 'unknown' });
    const use = { account_id: account, run_id: run, call_id: null, url: 'https://example.com/mcp' };
    expect(await requestMcpToken(executor, id, { ...use, owner: 'account' })).toEqual({ how: 'missing', page: null });
    await requestMcpList(worker, id, { thread_id: thread, run_id: run, account_id: account, server: mcp });
    await requestMcpDiscovery(gateway, id, { account_id: account, server: mcp });
    await requestMcpPrompts(gateway, id, { account_id: account, server: mcp });
    for (const link of [worker, gateway]) {
      const { tunnel, head } = await openTunnel(link, id, { request: {} });
      tunnel.resume().end('bytes');
      expect(head).toEqual({});
    }
  }

  async function watchRuns() {
    const watch = new NatsRunFeed(findLink('gateway')).watch(run, () => undefined);
    cleanups.push(() => watch.stop());
    for (const service of ['gateway', 'agent-worker', 'summarizer'] as const) {
      const heard = new Promise<void>((resolve) => {
        const once = new NatsRunFeed(findLink('gateway')).watch(run, () => (once.stop(), resolve()));
        void once.ready().then(() => new NatsRunFeed(findLink(service)).publish([fact]));
      });
      await heard;
    }
    await new Promise<void>((resolve) => {
      const begun = new NatsRunFeed(findLink('gateway')).watchThread(thread, () => (begun.stop(), resolve()));
      const started = { ...fact, type: 'run.started', data: {} } as RecordedFact;
      void begun.ready().then(() => new NatsRunFeed(findLink('agent-worker')).publish([started]));
    });
  }

  async function giveSignsOfLife() {
    const gateway = findLink('gateway');
    const heard = new HeardRunHolders(gateway, 0);
    await gateway.ping();
    for (const service of ['agent-worker', 'summarizer'] as const) {
      const link = findLink(service);
      cleanups.push(announceRunHolder(link, { id: service, service }));
      await link.ping();
    }
    await gateway.ping();
    expect(heard.processes?.map(({ id }) => id)).toEqual(['agent-worker', 'summarizer']);
  }

  async function announceWork() {
    const [gateway, ...others] = (['gateway', 'agent-worker', 'summarizer'] as const).map(findLink);
    if (!gateway) throw new Error('there is a gateway');
    const heard = [gateway, ...others].map((link) => {
      const signal = new WorkSignal(Promise.resolve(link));
      return new Promise<void>((resolve) => signal.onWork(resolve));
    });
    await Promise.all([gateway, ...others].map((link) => link.ping()));
    gateway.connection.publish(gateway.names.workAhead);
    await Promise.all(heard);
  }

  async function sendSignals() {
    const [worker, summarizer, executor] = [
      findLink('agent-worker'),
      findLink('summarizer'),
      findLink('tool-executor'),
    ];
    const heard: string[] = [];
    const listen = ({ connection }: NatsLink, subject: string, queue?: string) =>
      connection.subscribe(subject, {
        ...(queue !== undefined && { queue }),
        callback: (error, message) => {
          heard.push(error ? error.message : message.subject);
          if (message.reply) message.respond('{}');
        },
      });
    listen(worker, signals.stop.pattern);
    listen(summarizer, signals.stop.pattern);
    listen(worker, signals.steer.pattern);
    listen(worker, signals.live.toPattern('worker_1'));
    listen(executor, signals.place.pattern, signals.place.queue);
    await Promise.all([worker, summarizer, executor].map((link) => link.ping()));

    findLink('gateway').connection.publish(signals.stop.pattern, '{}');
    findLink('gateway').connection.publish(signals.steer.pattern, '{}');
    await findLink('gateway').connection.request(signals.live.toPattern('worker_1'), '{}');
    await worker.connection.request(signals.place.pattern, '{}');
    await Promise.all([worker, summarizer].map((link) => link.ping()));

    expect(heard.sort()).toEqual(['executor.place', 'runs.live.worker_1', 'runs.steer', 'runs.stop', 'runs.stop']);
  }

  it.each(natsServices)('of %s is used by its own code', async (service) => {
    expect(await services[service].unused(service, server.executorId)).toEqual([]);
  });

  it.each(natsServices)('that the code of %s needs is granted', (service) => {
    expect(services[service].errors).toEqual([]);
  });
});

const stopped = { how: 'stopped', verified_dead_at: '2030-01-01T00:00:00.000Z' } as const;

it('lets an executor answer for as long as the slowest MCP server may take', () => {
  const { allow_responses: answer } = allNatsPermissions()['tool-executor'];
  const server = mcpServer.parse({ name: 'slow', transport: 'stdio', command: 'npx -y slow' });
  expect(parseInt(answer?.expires ?? '0') * 1_000).toBeGreaterThan(longestAnswerMs({ server, start_ms: 300_000 }));
});
