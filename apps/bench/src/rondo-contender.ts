import { type Delta, type Fact, type RondoClient, type RunView, RunningRondo, isTerminal } from '@rondo/installation';
import type { Socket } from 'socket.io-client';
import { nowMs } from './clock';
import { type Contender, type Performance, type Task, newTag } from './contender';
import { post } from './http';
import { ProcessTable } from './machine/process-table';
import { type Plan, modelNameOf } from './model/plan';
import { taggedInput } from './model/request';
import type { Scale } from './scale';
import { systemPrompt } from './system-prompt';

export interface RondoRequest {
  readonly modelUrl: string;
  readonly leases: Scale['leases'];
  /** Variables of every service. */
  readonly everywhere?: Readonly<Record<string, string>>;
  /** Variables of the worker. */
  readonly worker?: Readonly<Record<string, string>>;
}

/** A whole installation that nobody else uses, and clients that watch their runs over Socket.IO. */
export class RondoContender implements Contender {
  readonly name = 'rondo';
  private readonly idle: Socket[] = [];

  private constructor(
    readonly installation: RunningRondo,
    private readonly client: RondoClient,
  ) {}

  static async start({ modelUrl, leases, everywhere = {}, worker = {} }: RondoRequest): Promise<RondoContender> {
    const shared = { DEMO_MODEL_URL: modelUrl, LOG_LEVEL: 'info', ...everywhere };
    const installation = await RunningRondo.start({
      instances: ['tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      leases,
      settings: {
        'tool-executor': everywhere,
        'agent-worker': { ...shared, ...worker },
        summarizer: shared,
        gateway: { ...shared, RATE_LIMIT_PER_SECOND: '100000' },
      },
    });
    return new RondoContender(installation, installation.client());
  }

  async perform({ plan, threadId, onText = () => undefined }: Task): Promise<Performance> {
    const socket = this.idle.pop() ?? (await this.connect());
    const tag = newTag();
    const submittedMs = nowMs();
    const run = await this.submit({ plan, tag, ...(threadId !== undefined && { threadId }) });
    await watch(socket, run.id, onText);
    this.idle.push(socket);
    return { tag, threadId: run.thread_id, submittedMs };
  }

  /** Nobody watches this one. */
  async submit({ plan, tag, threadId }: { plan: Plan; tag: string; threadId?: string }): Promise<RunView> {
    const body = {
      model: `demo/${modelNameOf(plan)}`,
      input: taggedInput(tag),
      agent: { system_prompt: systemPrompt },
      tools: [plan.tool],
      limits: { max_iterations: 500 },
      context: { strategy: 'none' },
      ...(threadId !== undefined && { thread_id: threadId }),
    };
    const headers = { authorization: `Bearer ${this.client.key}` };
    return JSON.parse(await post(`${this.client.url}/v1/runs`, { body, headers })) as RunView; // the contract's own shape
  }

  async connect(): Promise<Socket> {
    const socket = this.client.connect();
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    return socket;
  }

  async countRuns(status: string): Promise<number> {
    const { data } = await this.client.json<{ data: unknown[] }>('GET', `/runs?status=${status}&limit=1`);
    return data.length;
  }

  signalServices(signal: NodeJS.Signals): void {
    for (const { pid } of this.installation.services.all) if (pid !== undefined) process.kill(pid, signal);
  }

  cpuMs(): Record<string, number> {
    const table = ProcessTable.read();
    const { services, infrastructure } = this.installation;
    const programs = [...services.all, ...infrastructure.servers];
    return Object.fromEntries(programs.map(({ name, pid }) => [name, pid === undefined ? 0 : table.cpuMs(pid)]));
  }

  /** Of the services. */
  residentMb(): Record<string, number> {
    const table = ProcessTable.read();
    const { all } = this.installation.services;
    return Object.fromEntries(
      all.map(({ name, pid }) => [name, pid === undefined ? 0 : table.residentBytes(pid) / 1e6]),
    );
  }

  async stop(): Promise<void> {
    for (const socket of this.idle) socket.close();
    await this.installation.stop();
  }
}

/** Resolves with the run's last fact. Rejects when it did not complete. */
function watch(socket: Socket, runId: string, onText: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onEvent = (event: Fact | Delta) => {
      if (event.type === 'message.delta') onText(String(event.data.text));
      if (!isTerminal(event)) return;
      socket.off('event', onEvent);
      if (event.type === 'run.completed') resolve();
      else reject(new Error(`${runId}: ${JSON.stringify(event)}`));
    };
    socket.on('event', onEvent);
    void socket.emitWithAck('run.subscribe', { run_id: runId, after_seq: 0 }).then((ack: { ok: boolean }) => {
      if (!ack.ok) reject(new Error(`${runId}: ${JSON.stringify(ack)}`));
    });
  });
}
