import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentConnection } from './agent/agent-connection';
import { AgentFiles, type FileCall, changesDisk } from './agent/agent-files';
import type { AgentAnswer } from './agent/agent-messages';
import { AgentOnDemand } from './agent/boot-agent';
import { CommandOrigins } from './processes/run-processes';
import type { CommandRecord } from '../provider/command-record';
import { SandboxCommands } from '../provider/sandbox-commands';
import { CommandRun } from './agent/command-run';
import type { FreeDisk } from '../provider/free-disk';
import { SandboxDisk } from './sandbox-disk';
import { CommandSandbox } from '../provider/command-sandbox';
import type { EndedCommand, Termination } from '../provider/sandbox';
import { EngineAway, SandboxError } from '../provider/sandbox-error';
import { type SandboxSettings, browserInSandboxes } from '../provider/sandbox-settings';
import { relativeToWorkspace } from '../provider/workspace-path';
import type { Usage, Watched } from './workspaces/workspace-usage';

interface HostSandboxParts {
  readonly boot: () => Promise<AgentConnection>;
  readonly usage: (watched: Watched) => Promise<Usage>;
  /** Of this machine. Absent for trials. */
  readonly freeDisk?: Pick<FreeDisk, 'require'>;
  /** Of the secrets that commands of a run may use, by their variables. Absent for trials. */
  readonly findPlaceholders?: (run: string | undefined) => Record<string, string> | undefined;
}

const fileTimeoutMs = 30_000;
/** As long as calls wait for an executor that is away. */
const longestAbsenceMs = 60_000;
const bootAgainMs = 500;

/** A sandbox on this machine: one agent, booted when needed, and the records of the commands that it ran. */
export class HostSandbox extends CommandSandbox {
  readonly browser: string | undefined;
  readonly files: AgentFiles;
  readonly disk: SandboxDisk;
  protected readonly commands: SandboxCommands;
  private readonly agent: AgentOnDemand;
  private readonly origins = new CommandOrigins();
  /** Rejects where nothing may be written. */
  private readonly requireCapacity: () => Promise<void>;
  private readonly findPlaceholders: NonNullable<HostSandboxParts['findPlaceholders']>;
  private lastNumber = 0;

  constructor(
    id: string,
    private readonly settings: SandboxSettings,
    { boot, usage, freeDisk, findPlaceholders }: HostSandboxParts,
  ) {
    super(id);
    this.findPlaceholders = findPlaceholders ?? (() => undefined);
    this.browser = browserInSandboxes(settings);
    this.agent = new AgentOnDemand(boot);
    this.commands = new SandboxCommands(settings, {
      launch: (record, cwd) => this.launch(record, cwd),
      stop: () => this.stop(),
    });
    this.disk = new SandboxDisk(settings, {
      usage,
      awake: () => (this.isAwake ? this.agent.awake() : Promise.resolve(undefined)),
      stop: (reason) => this.stop(reason),
    });
    this.requireCapacity = async () => {
      await freeDisk?.require();
      const refusal = await this.disk.refusal();
      if (refusal !== undefined) throw new SandboxError('failed', refusal);
    };
    this.files = new AgentFiles((call, parameters) => this.ask(call, parameters), settings, this.requireCapacity);
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
    this.commands.expectKill(reason);
    if (!(await this.agent.stop())) throw new SandboxError('failed', 'The sandbox could not be verified dead.');
    return { wasRunning, verifiedDeadAt: new Date().toISOString() };
  }

  async endRun(run: string): Promise<EndedCommand[]> {
    const connection = await this.agent.awake();
    const jobs = this.commands.expectKill('The run was stopped.', run);
    const { graceMs } = this.settings;
    const kills = jobs.map(({ identity }) => this.kill(identity.id));
    const ended = await connection?.runProcesses?.end(run, graceMs);
    if (ended?.dead === false) await this.stop();
    await Promise.all(kills);
    const byCommand = this.origins.groupByCommand(run, ended?.leftovers ?? []);
    for (const { identity } of jobs) byCommand.set(identity.id, byCommand.get(identity.id) ?? []);
    const verifiedDeadAt = new Date().toISOString();
    return [...byCommand].map(([commandId, processes]) => ({ commandId, processes, verifiedDeadAt }));
  }

  get isAwake(): boolean {
    return this.agent.isAwake;
  }

  /** The workspace as its agent sees it, for this process: the only view with a disk image mounted. Wakes the sandbox. */
  async openView(): Promise<string> {
    this.touch();
    const { runProcesses } = await this.waitForAgent();
    if (!runProcesses) throw new SandboxError('unsupported', 'The processes of the sandbox are not seen here.');
    return `/proc/${runProcesses.own.agent}/root/workspace`;
  }

  private async launch(record: CommandRecord, cwd: string | undefined): Promise<CommandRun> {
    const directory = cwd === undefined ? undefined : relativeToWorkspace(cwd);
    await this.requireCapacity();
    const connection = await this.waitForAgent(() => record.expected === undefined);
    this.disk.mayChange();
    const { id, run: owner } = record.identity;
    const number = (this.lastNumber += 1);
    if (owner !== undefined) {
      await connection.runProcesses?.enter(owner);
      this.origins.note({ run: owner, command: number, commandId: id, startedAt: record.startedAt });
    }
    const run = new CommandRun(number, record, { connection, placeholders: this.findPlaceholders(owner) });
    await run.start(directory);
    return run;
  }

  /** Waits for an engine that restarts, unless the caller is about to be stopped: nothing has been done for it yet. */
  private async waitForAgent(isWanted = () => true): Promise<AgentConnection> {
    const latest = performance.now() + longestAbsenceMs;
    for (;;) {
      try {
        return await this.agent.get();
      } catch (error) {
        if (!(error instanceof EngineAway) || !isWanted() || performance.now() > latest) throw error;
        await delay(bootAgainMs);
      }
    }
  }

  /** The disk has to be measured after a call that writes: a measurement during the call may have missed its end. */
  private async ask<C extends FileCall>(call: C, parameters: object): Promise<AgentAnswer<C>> {
    this.touch();
    try {
      return await (await this.waitForAgent()).request(call, parameters, fileTimeoutMs);
    } finally {
      if (changesDisk[call]) this.disk.mayChange();
    }
  }
}
