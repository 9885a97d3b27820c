import type { Duplex } from 'node:stream';
import { CommandRecord } from '../provider/command-record';
import { SandboxCommands } from '../provider/sandbox-commands';
import { CommandSandbox } from '../provider/command-sandbox';
import type { EndedCommand, Termination } from '../provider/sandbox';
import { SandboxError } from '../provider/sandbox-error';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { relativeToWorkspace } from '../provider/workspace-path';
import type { DaytonaClient, Machine } from './daytona-client';
import { DaytonaCommand, toKey } from './daytona-command';
import { DaytonaFiles } from './daytona-files';
import { DaytonaShell } from './daytona-shell';
import { readJson } from '@rondo/contract';
import { z } from 'zod';

/** How long a URL of a port is good. */
const exposedS = 24 * 3_600;

interface SandboxParts {
  readonly client: DaytonaClient;
  /** The started machine, created if there is none. */
  readonly obtain: () => Promise<Machine>;
  /** The machine if it runs already, maybe because another executor has started it. */
  readonly find: () => Promise<Machine | undefined>;
  /** It is used by this process from now on. The promise resolves when it has stopped, as far as this process knows. */
  readonly started: (ended: Promise<void>) => void;
}

/** A thread's sandbox at Daytona. Nothing is created, started or looked for before the first use. */
export class DaytonaSandbox extends CommandSandbox {
  readonly browser: string | undefined;
  readonly files: DaytonaFiles;
  protected readonly commands: SandboxCommands;
  private shell: DaytonaShell | undefined;
  private opening: Promise<DaytonaShell> | undefined;
  private ended: () => void = () => undefined;

  constructor(
    id: string,
    settings: SandboxSettings,
    private readonly parts: SandboxParts,
  ) {
    super(id);
    this.browser = parts.client.settings.browserPath;
    this.commands = new SandboxCommands(settings, {
      launch: (record, cwd) => this.launch(record, cwd),
      stop: () => this.stop(),
      discoverJobs: (session) => this.discoverJobs(session),
    });
    this.files = new DaytonaFiles(() => this.open(), settings);
  }

  /** Daytona's preview links speak HTTP only, which is not what a stream of bytes needs. */
  connect(): Promise<Duplex> {
    return Promise.reject(new SandboxError('unsupported', 'Ports of sandboxes at Daytona cannot be reached.'));
  }

  /** What is written counts as a use of the sandbox, here and at the service. */
  async attach(script: string, run: string): Promise<Duplex> {
    const shell = await this.open();
    const mark = `export SANDBOX_COMMAND=${toKey(run)}:terminal`;
    return shell.terminal(`${mark}\n${script}`, () => this.touch());
  }

  async expose(port: number): Promise<{ url: string; seconds: number }> {
    const shell = await this.open();
    if ((await shell.run('listens', { port })) !== 'listening\n') {
      throw new SandboxError('not_listening', `Nothing listens on port ${port}.`);
    }
    const { client } = this.parts;
    const { url } = await client.persistently(() => shell.machine.getSignedPreviewUrl(port, exposedS));
    return { url, seconds: exposedS };
  }

  async stop(): Promise<Termination> {
    await this.waitForOpening();
    const { shell } = this;
    const wasRunning = this.isAwake;
    this.commands.expectKill('The sandbox was stopped.');
    if (shell && wasRunning) {
      const { client } = this.parts;
      await client.persistently(() => shell.machine.stop(client.settings.requestTimeoutMs / 1_000, true));
    }
    this.shutDown();
    return { wasRunning, verifiedDeadAt: new Date().toISOString() };
  }

  /** It is about to be deleted with everything that runs in it. */
  expectRemoval(): void {
    this.commands.expectKill('The sandbox was removed.');
  }

  /** Waits for one that is being created or started. */
  async waitForOpening(): Promise<void> {
    await this.opening?.catch(() => undefined);
  }

  /** Its machine has stopped or is gone. */
  shutDown(): void {
    this.shell?.close();
    this.shell = undefined;
    this.ended();
    for (const { record } of this.commands.ledger.running()) record.lose('killed');
  }

  /** Finds processes by the run in their environment, and all of their descendants. */
  async endRun(run: string): Promise<EndedCommand[]> {
    const shell = await this.openIfRunning();
    if (!shell) return [];
    const jobs = this.commands.expectKill('The run was stopped.', run);
    const keys = jobs.map(({ identity }) => toKey(identity.id)).join(' ');
    const answer = await shell.run('kill', { pattern: `${toKey(run)}:`, keys, grace: 1_000 });
    if (!answer.endsWith('left 0\n')) await this.stop();
    await Promise.all(jobs.map(({ outcome }) => outcome));
    const processes = new Map<string, string[]>(jobs.map(({ identity }) => [identity.id, []]));
    for (const [, id = '', name = ''] of answer.matchAll(/^found (\S+) (.*)$/gm)) {
      const commandId = Buffer.from(id, 'base64').toString().trim();
      processes.set(commandId, [...(processes.get(commandId) ?? []), name]);
    }
    const verifiedDeadAt = new Date().toISOString();
    return [...processes].map(([commandId, names]) => ({ commandId, processes: names, verifiedDeadAt }));
  }

  get isAwake(): boolean {
    return this.opening !== undefined || this.shell?.isBroken === false;
  }

  private async launch(record: CommandRecord, cwd: string | undefined): Promise<DaytonaCommand> {
    const directory = cwd === undefined ? undefined : relativeToWorkspace(cwd);
    const command = new DaytonaCommand(record, await this.open(), () => this.stop());
    await command.start(directory);
    return command;
  }

  private async discoverJobs(session: string): Promise<void> {
    const shell = await this.openIfRunning();
    if (shell) await discoverJobs(session, { commands: this.commands, shell, stop: () => this.stop() });
  }

  private async openIfRunning(): Promise<DaytonaShell | undefined> {
    if (this.isAwake) return this.open();
    const machine = await this.parts.find();
    return machine?.state === 'started' ? this.open() : undefined;
  }

  private async open(): Promise<DaytonaShell> {
    this.touch();
    if (this.shell?.isBroken === false) return this.shell;
    this.opening ??= this.openNow().finally(() => (this.opening = undefined));
    return this.opening;
  }

  private async openNow(): Promise<DaytonaShell> {
    const shell = new DaytonaShell(this.parts.client, await this.parts.obtain());
    const answer = (await shell.run('prepare')).trim();
    if (answer !== 'ready') {
      throw new SandboxError('unavailable', `The sandbox cannot run commands: ${answer.replace(/^failed /, '')}.`);
    }
    this.ended(); // the one before broke without a word
    this.parts.started(new Promise((resolve) => (this.ended = resolve)));
    this.shell = shell;
    return shell;
  }
}

const text = z.string().max(100_000);
const count = z.number().int().positive();

/** What `toNote` has written, unless code in the sandbox has changed it. */
const note = z.object({
  identity: z.object({
    id: text,
    session: text,
    command: text,
    background: z.literal(true),
    run: text.optional(),
    openInput: z.boolean().optional(),
  }),
  limits: z.object({
    timeoutMs: count.optional(),
    graceMs: count.max(60_000),
    maxOutputBytes: count.max(256 * 1024 * 1024),
    keepBytes: count.max(1024 * 1024),
  }),
});

/** Attaches to the background jobs of a session, or of all (`*`), that another executor has started in the sandbox. */
async function discoverJobs(
  session: string,
  { commands, shell, stop }: { commands: SandboxCommands; shell: DaytonaShell; stop: () => Promise<unknown> },
): Promise<void> {
  const answer = await shell.run('job', { session: session === '*' ? session : toKey(session) });
  for (const line of answer.split('\n')) {
    const parsed = note.safeParse(readJson(Buffer.from(line, 'base64').toString()));
    if (!parsed.success || commands.ledger.job(parsed.data.identity.session)) continue;
    const { identity, limits } = parsed.data;
    const record = new CommandRecord(identity, { ...limits, timeoutMs: limits.timeoutMs });
    const command = new DaytonaCommand(record, shell, stop);
    const started = command.attach().then(() => command);
    commands.ledger.add(identity.id, { record, started });
    await started;
  }
}
