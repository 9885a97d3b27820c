import type { Duplex } from 'node:stream';
import type { AgentConnection } from './agent/agent-connection';
import { AgentFiles } from './files/agent-files';
import type { AgentAnswer, AgentCall } from './agent/agent-messages';
import { AgentOnDemand } from './agent/agent-on-demand';
import { CommandLedger, type KnownCommand } from './commands/command-ledger';
import { CommandOrigins } from './commands/command-origins';
import type { CommandRecord } from './commands/command-record';
import { recordOf } from './commands/record-of-request';
import { CommandRun } from './commands/command-run';
import { SandboxDisk } from './files/sandbox-disk';
import type {
  CommandListeners,
  CommandOutcome,
  CommandRequest,
  EndedCommand,
  ProcessView,
  Sandbox,
  Termination,
} from '../sandbox';
import { SandboxError } from '../sandbox-error';
import type { AwakeSandbox } from '../sandbox-provider';
import type { SandboxSettings } from '../sandbox-settings';
import { relativeToWorkspace } from '../workspace-path';
import type { Usage, Watched } from './files/workspace-usage';

const fileTimeoutMs = 30_000;
const maximumInputBytes = 100_000;

/** A sandbox on this machine: one agent, booted when needed, and the records of the commands that it ran. */
export class EmbeddedSandbox implements Sandbox {
  readonly files: AgentFiles;
  readonly disk: SandboxDisk;
  private readonly ledger = new CommandLedger();
  private readonly agent: AgentOnDemand;
  private readonly origins = new CommandOrigins();
  private lastNumber = 0;
  private lastUsedAt = Date.now();

  constructor(
    readonly id: string,
    private readonly settings: SandboxSettings,
    { boot, usage }: { boot: () => Promise<AgentConnection>; usage: (watched: Watched) => Promise<Usage> },
  ) {
    this.agent = new AgentOnDemand(boot);
    this.disk = new SandboxDisk(settings, {
      usage,
      awake: () => (this.isAwake ? this.agent.awake() : Promise.resolve(undefined)),
      stop: (reason) => this.stop(reason),
    });
    const refusal = () => this.disk.refusal();
    this.files = new AgentFiles((call, parameters) => this.ask(call, parameters), settings, refusal);
  }

  async exec(request: CommandRequest, { output, signal }: CommandListeners = {}): Promise<CommandOutcome> {
    const known = this.ledger.get(request.id);
    if (signal?.aborted && !known) return this.neverStarted(request);
    const { record, started } = known ?? this.begin(request, { background: false });
    if (output) record.listen(output);
    const abort = () => void this.kill(request.id).catch(() => this.stop());
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      await started;
      return await record.outcome;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.lastUsedAt = Date.now();
    }
  }

  async start(request: CommandRequest & { session: string }): Promise<ProcessView> {
    const known = this.ledger.get(request.id);
    if (!known && this.ledger.job(request.session)?.running) {
      throw new SandboxError('session_busy', `Session ${request.session} still runs a command.`);
    }
    const { record, started } = known ?? this.begin(request, { background: true });
    await started;
    return record.view();
  }

  read(session: string, fromOffset = 0): Promise<ProcessView> {
    this.lastUsedAt = Date.now();
    return this.jobOf(session).then((job) => job.view(fromOffset));
  }

  list(): Promise<ProcessView[]> {
    return Promise.resolve(this.ledger.jobs().map((record) => record.view()));
  }

  async write(session: string, text: string): Promise<void> {
    this.lastUsedAt = Date.now();
    const { identity, running } = await this.jobOf(session);
    const run = running ? await this.ledger.get(identity.id)?.started : undefined;
    if (!run) throw new SandboxError('invalid_request', 'The command has ended.');
    if (Buffer.byteLength(text) > maximumInputBytes) {
      throw new SandboxError('too_large', `The input has more than ${maximumInputBytes} bytes.`);
    }
    await run.write(text);
  }

  async terminate(session: string): Promise<Termination> {
    return this.kill((await this.jobOf(session)).identity.id);
  }

  async kill(commandId: string): Promise<Termination> {
    this.lastUsedAt = Date.now();
    const known = this.ledger.get(commandId);
    const wasRunning = known?.record.running === true;
    if (known && wasRunning) {
      known.record.expect('killed');
      const run = await known.started.catch(() => undefined);
      await run?.kill();
    }
    return { wasRunning, verifiedDeadAt: new Date().toISOString() };
  }

  async connect(port: number): Promise<Duplex> {
    if (this.settings.unsafeHost) {
      throw new SandboxError('unsupported', 'Without isolation, sandboxes have no ports of their own.');
    }
    const connection = await this.agent.awake();
    if (!connection) throw new SandboxError('not_listening', `Nothing listens on port ${port}: the sandbox is asleep.`);
    this.touch();
    return connection.connect(port, () => this.touch());
  }

  async stop(reason = 'The sandbox was stopped.'): Promise<Termination> {
    const wasRunning = this.agent.isAwake;
    for (const { record } of this.ledger.running()) record.expect('killed', reason);
    if (!(await this.agent.stop())) throw new SandboxError('failed', 'The sandbox could not be verified dead.');
    return { wasRunning, verifiedDeadAt: new Date().toISOString() };
  }

  async endRun(run: string): Promise<EndedCommand[]> {
    const connection = await this.agent.awake();
    const jobs = this.ledger.running().filter(({ record }) => record.identity.run === run);
    for (const { record } of jobs) record.expect('killed', 'The run was stopped.');
    const { graceMs } = this.settings;
    const kills = jobs.map(({ record }) => this.kill(record.identity.id));
    const ended = await connection?.runProcesses?.end(run, graceMs);
    if (ended?.dead === false) await this.stop();
    await Promise.all(kills);
    const byCommand = this.origins.groupByCommand(run, ended?.leftovers ?? []);
    for (const { record } of jobs) byCommand.set(record.identity.id, byCommand.get(record.identity.id) ?? []);
    const verifiedDeadAt = new Date().toISOString();
    return [...byCommand].map(([commandId, processes]) => ({ commandId, processes, verifiedDeadAt }));
  }

  /** Restarts the idle time: a caller is about to use the sandbox. */
  touch(): void {
    this.lastUsedAt = Date.now();
  }

  get isAwake(): boolean {
    return this.agent.isAwake;
  }

  activity(): AwakeSandbox {
    const running = this.ledger.running().map(({ record }) => record.identity.background);
    const { id: threadId, lastUsedAt } = this;
    return { threadId, lastUsedAt, isBusy: running.includes(false), hasBackground: running.includes(true) };
  }

  /** Unused for the idle time, no call waits for a command, and no background job is recent enough to keep it awake. */
  isIdle(now: number): boolean {
    const { idleMs, backgroundKeepAliveMs } = this.settings;
    const keptAwake = this.ledger
      .running()
      .some(({ record }) => !record.identity.background || now - record.startedAt.getTime() < backgroundKeepAliveMs);
    return !keptAwake && now - this.lastUsedAt >= idleMs;
  }

  private neverStarted(request: CommandRequest): Promise<CommandOutcome> {
    const record = recordOf(request, false, this.settings);
    record.end({ ending: 'killed' });
    return record.outcome;
  }

  private begin(request: CommandRequest, { background }: { background: boolean }): KnownCommand {
    const record = recordOf(request, background, this.settings);
    const known = { record, started: this.launch(record, request.cwd) };
    this.ledger.add(request.id, known);
    return known;
  }

  private async launch(record: CommandRecord, cwd: string | undefined): Promise<CommandRun> {
    this.lastUsedAt = Date.now();
    const directory = cwd === undefined ? undefined : relativeToWorkspace(cwd);
    const refusal = await this.disk.refusal();
    if (refusal !== undefined) throw new SandboxError('failed', refusal);
    const connection = await this.agent.get();
    this.disk.mayChange();
    const { id, run: owner } = record.identity;
    const number = (this.lastNumber += 1);
    if (owner !== undefined) {
      await connection.runProcesses?.enter(owner);
      this.origins.note({ run: owner, command: number, commandId: id, startedAt: record.startedAt });
    }
    const run = new CommandRun(number, record, connection);
    await run.start(directory);
    return run;
  }

  private jobOf(session: string): Promise<CommandRecord> {
    const job = this.ledger.job(session);
    if (job) return Promise.resolve(job);
    return Promise.reject(new SandboxError('not_found', `There is no session ${session}.`));
  }

  private async ask<C extends AgentCall>(call: C, parameters: object): Promise<AgentAnswer<C>> {
    this.lastUsedAt = Date.now();
    if (call === 'file.write') this.disk.mayChange();
    return (await this.agent.get()).request(call, parameters, fileTimeoutMs);
  }
}
