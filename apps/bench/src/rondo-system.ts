import { isTerminalFact } from '@rondo/contract';
import { type Delta, type Fact, type RondoClient, type RunView, RunningRondo } from '@rondo/test-deployment';
import type { Socket } from 'socket.io-client';
import { nowMs } from './clock';
import { type MeasuredSystem, type SubmittedRun, type Task, newTag } from './measured-system';
import { post } from './http';
import { readCpuMs, readResidentMb } from './machine/process-usage';
import { type Plan, toModelName } from './model/plan';
import { systemPrompt, tagInput } from './model/request';
import type { Scale } from './scale';

export interface RondoRequest {
  readonly modelUrl: string;
  readonly leases: Scale['leases'];
  /** Variables of every service. */
  readonly everywhere?: Readonly<Record<string, string>>;
  /** Modules that are loaded into every service before its own code. */
  readonly preloaded?: readonly string[];
  /** Variables of the worker. */
  readonly worker?: Readonly<Record<string, string>>;
}

/** Variables of a gateway whose one account is all of a benchmark's load. */
export const withoutLimits = {
  RATE_LIMIT_PER_SECOND: '100000',
  ACCOUNT_RATE_LIMIT_PER_SECOND: '100000',
  HANDSHAKES_PER_SECOND: '100000',
  SOCKETS_PER_ACCOUNT: '100000',
  MAX_ACTIVE_RUNS_PER_ACCOUNT: '1000000',
  ACCOUNT_THREADS: '100000000',
  ACCOUNT_WORKSPACES: '100000000',
};

/** A deployment for the benchmark, and clients that subscribe to their runs over Socket.IO. */
export class RondoSystem implements MeasuredSystem {
  readonly name = 'rondo';
  private readonly idle: Socket[] = [];

  private constructor(
    readonly deployment: RunningRondo,
    readonly client: RondoClient,
  ) {}

  static async start({ modelUrl, leases, worker = {}, ...needs }: RondoRequest): Promise<RondoSystem> {
    const providers = [{ name: 'bench', base_url: `${modelUrl}/v1` }];
    const everywhere = toVariables(needs);
    const shared = { MODEL_PROVIDERS: JSON.stringify(providers), LOG_LEVEL: 'info', ...everywhere };
    const deployment = await RunningRondo.start({
      instances: ['tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      leases,
      settings: {
        // The recovery measure counts effects in the workspaces' files, which the host cannot read inside a disk image.
        'tool-executor': { ...everywhere, SANDBOX_DISK_HARD: 'off' },
        'agent-worker': { ...shared, ...worker },
        summarizer: shared,
        gateway: { ...shared, ...withoutLimits },
      },
    });
    return new RondoSystem(deployment, deployment.client());
  }

  async runTask({ plan, threadId, inTwoSteps, settings, onText = () => undefined }: Task): Promise<SubmittedRun> {
    const socket = this.idle.pop() ?? (await this.connect());
    const tag = newTag();
    const body = toBody({ plan, tag, threadId, settings });
    const submittedMs = nowMs();
    const begin = async (): Promise<RunView> => {
      if (!inTwoSteps) return ask<RunView>(socket, 'run.create', { ...body, subscribe: true });
      const run = await this.post(body);
      await this.subscribe(socket, run);
      return run;
    };
    const run = await watch(socket, begin, onText);
    this.idle.push(socket);
    return { tag, threadId: run.thread_id, submittedMs };
  }

  /** Submits a run without subscribing to it. */
  submit(task: Submission): Promise<RunView> {
    return this.post(toBody(task));
  }

  private async post(body: object): Promise<RunView> {
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

  async subscribe(socket: Socket, run: Pick<RunView, 'id'>): Promise<void> {
    await ask(socket, 'run.subscribe', { run_id: run.id, after_seq: 0 });
  }

  async countRuns(status: string): Promise<number> {
    const { data } = await this.client.json<{ data: unknown[] }>('GET', `/runs?status=${status}&limit=1`);
    return data.length;
  }

  signalServices(signal: NodeJS.Signals): void {
    for (const { pid } of this.deployment.services.all) if (pid !== undefined) process.kill(pid, signal);
  }

  cpuMs(): Record<string, number> {
    return readCpuMs(this.deployment);
  }

  residentMb(): Record<string, number> {
    return readResidentMb(this.deployment);
  }

  async stop(): Promise<void> {
    for (const socket of this.idle) socket.close();
    await this.deployment.stop();
  }
}

const toVariables = ({ everywhere = {}, preloaded = [] }: Pick<RondoRequest, 'everywhere' | 'preloaded'>) => ({
  ...everywhere,
  ...(preloaded.length > 0 && { NODE_OPTIONS: preloaded.map((path) => `--require ${JSON.stringify(path)}`).join(' ') }),
});

interface Submission {
  readonly plan: Plan;
  readonly tag: string;
  readonly threadId?: string | undefined;
  readonly settings?: Task['settings'];
}

const toSettings = (plan: Plan) => ({
  agent: { system_prompt: systemPrompt },
  tools: [plan.tool],
  limits: { max_iterations: 500, max_identical_calls: 0 }, // the scripted model repeats its call on purpose
  context: { strategy: 'none' },
});

const toBody = ({ plan, tag, threadId, settings = toSettings(plan) }: Submission) => ({
  model: `bench/${toModelName(plan)}`,
  input: tagInput(tag),
  ...settings,
  ...(threadId !== undefined && { thread_id: threadId }),
});

type Answer<Data> = { readonly ok: true; readonly data: Data } | { readonly ok: false; readonly error: unknown };

/** Rejects with the problem that the gateway answers. */
export async function ask<Data>(socket: Socket, name: string, body: object): Promise<Data> {
  const answer = (await socket.emitWithAck(name, body)) as Answer<Data>; // the contract's own shape
  if (!answer.ok) throw new Error(`${name}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

/** Resolves with the run that `begin` starts when its last fact arrives at the socket; rejects if it did not complete. */
function watch(socket: Socket, begin: () => Promise<RunView>, onText: (text: string) => void): Promise<RunView> {
  return new Promise((resolve, reject) => {
    const onEvent = (event: Fact | Delta) => {
      if (event.type === 'message.delta') onText(String(event.data.text));
      if (!isTerminalFact(event)) return;
      socket.off('event', onEvent);
      if (event.type === 'run.completed') resolve(begun);
      else reject(new Error(JSON.stringify(event)));
    };
    socket.on('event', onEvent);
    const begun = begin();
    begun.catch(reject);
  });
}
