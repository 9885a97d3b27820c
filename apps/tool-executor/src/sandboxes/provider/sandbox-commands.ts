import type { CommandListeners, CommandOutcome, CommandRequest, ProcessView, Termination } from './sandbox';
import { SandboxError } from './sandbox-error';
import type { AwakeSandbox } from './sandbox-provider';
import type { SandboxSettings } from './sandbox-settings';
import { CommandLedger, type KnownCommand, type RunningCommand } from './command-ledger';
import { CommandRecord } from './command-record';
import { z } from 'zod';

const maximumInputBytes = 100_000;

interface CommandSite {
  /** Runs the command of a record. Rejects when it could not be started. */
  launch(record: CommandRecord, cwd: string | undefined): Promise<RunningCommand>;
  /** Kills everything in the sandbox. */
  stop(): Promise<unknown>;
  /** Adds the background jobs of a session, or of all (`*`), to the ledger that another process has started. */
  discoverJobs?(session: string): Promise<void>;
}

/** The commands of one sandbox: each runs once under its id, sessions have one background job, and the idle time restarts. */
export class SandboxCommands {
  readonly ledger = new CommandLedger();
  lastUsedAt = Date.now();
  /** The same by a clock that is never set. */
  private lastUsedMs = performance.now();

  constructor(
    private readonly settings: SandboxSettings,
    private readonly site: CommandSite,
  ) {}

  async exec(request: CommandRequest, { output, signal }: CommandListeners = {}): Promise<CommandOutcome> {
    const known = this.ledger.get(request.id);
    if (signal?.aborted && !known) return this.neverStarted(request);
    const { record, started } = known ?? this.begin(request, { background: false });
    if (output) record.listen(output);
    const abort = () => void this.kill(request.id).catch(() => this.site.stop().catch(() => undefined));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      await started;
      return await record.outcome;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.touch();
    }
  }

  async start(request: CommandRequest & { session: string }): Promise<ProcessView> {
    const known = this.ledger.get(request.id);
    if (!known && (await this.findJob(request.session))?.running) {
      throw new SandboxError('session_busy', `Session ${request.session} still runs a command.`);
    }
    const { record, started } = known ?? this.begin(request, { background: true });
    await started;
    return record.view();
  }

  async read(session: string, fromOffset = 0): Promise<ProcessView> {
    this.touch();
    return (await this.readJob(session)).view(fromOffset);
  }

  async list(): Promise<ProcessView[]> {
    await this.site.discoverJobs?.('*');
    return this.ledger.jobs().map((record) => record.view());
  }

  async write(session: string, text: string): Promise<void> {
    this.touch();
    const { identity, running } = await this.readJob(session);
    const run = running ? await this.ledger.get(identity.id)?.started : undefined;
    if (!run) throw new SandboxError('invalid_request', 'The command has ended.');
    if (Buffer.byteLength(text) > maximumInputBytes) {
      throw new SandboxError('too_large', `The input has more than ${maximumInputBytes} bytes.`);
    }
    await run.write(text);
  }

  async terminate(session: string): Promise<Termination> {
    return this.kill((await this.readJob(session)).identity.id);
  }

  async kill(commandId: string): Promise<Termination> {
    this.touch();
    const known = this.ledger.get(commandId);
    const wasRunning = known?.record.running === true;
    if (known && wasRunning) {
      known.record.expect('killed');
      const run = await known.started.catch(() => undefined);
      await run?.kill();
    }
    return { wasRunning, verifiedDeadAt: new Date().toISOString() };
  }

  /** Notes why the running commands, of one run or all, are about to be killed, and returns them. */
  expectKill(reason: string, run?: string): CommandRecord[] {
    const running = this.ledger.running().map(({ record }) => record);
    const killed = running.filter(({ identity }) => run === undefined || identity.run === run);
    for (const record of killed) record.expect('killed', reason);
    return killed;
  }

  touch(): void {
    this.lastUsedAt = Date.now();
    this.lastUsedMs = performance.now();
  }

  activity(): Pick<AwakeSandbox, 'isBusy' | 'hasBackground' | 'lastUsedAt'> {
    const running = this.ledger.running().map(({ record }) => record.identity.background);
    const { lastUsedAt } = this;
    return { isBusy: running.includes(false), hasBackground: running.includes(true), lastUsedAt };
  }

  /** Unused for the idle time, no call waits for a command, and no background job is recent enough to keep the sandbox awake. */
  isIdle(): boolean {
    const { idleMs, backgroundKeepAliveMs } = this.settings;
    const now = performance.now();
    const keptAwake = this.ledger
      .running()
      .some(({ record }) => !record.identity.background || now - record.startedMs < backgroundKeepAliveMs);
    return !keptAwake && now - this.lastUsedMs >= idleMs;
  }

  private neverStarted(request: CommandRequest): Promise<CommandOutcome> {
    const record = toRecord(request, false, this.settings);
    record.end({ ending: 'killed' });
    return record.outcome;
  }

  private begin(request: CommandRequest, { background }: { background: boolean }): KnownCommand {
    this.touch();
    const record = toRecord(request, background, this.settings);
    const known = { record, started: this.site.launch(record, request.cwd) };
    this.ledger.add(request.id, known);
    return known;
  }

  private async readJob(session: string): Promise<CommandRecord> {
    const job = await this.findJob(session);
    if (job) return job;
    throw new SandboxError('not_found', `There is no session ${session}.`);
  }

  private async findJob(session: string): Promise<CommandRecord | undefined> {
    if (!this.ledger.job(session)) await this.site.discoverJobs?.(session);
    return this.ledger.job(session);
  }
}

const maximumCommandBytes = 100_000;
const defaultSession = 'default';

/** Ids and session names are sent to the agent; a command becomes an argument, whose length the kernel limits. */
const requestShape = z.object({
  id: z.string().min(1).max(200),
  session: z.string().min(1).max(100).optional(),
  command: z.string().refine((text) => Buffer.byteLength(text) <= maximumCommandBytes && !text.includes('\0'), {
    message: `a command has at most ${maximumCommandBytes} bytes, none of them zero`,
  }),
});

/** The record of a command that is about to start. Rejects what the agent or the kernel would not take. */
function toRecord(request: CommandRequest, background: boolean, settings: SandboxSettings): CommandRecord {
  const shape = requestShape.safeParse(request);
  if (!shape.success) throw new SandboxError('invalid_request', z.prettifyError(shape.error));
  const { id, command, session = defaultSession } = shape.data;
  const { run, openInput } = request;
  return new CommandRecord(
    { id, command, session, background, run, openInput },
    {
      timeoutMs: request.timeoutMs ?? (background ? undefined : settings.commandTimeoutMs),
      graceMs: request.graceMs ?? settings.graceMs,
      maxOutputBytes: request.maxOutputBytes ?? (background ? settings.backgroundOutputBytes : settings.outputBytes),
      keepBytes: request.keepBytes ?? settings.keepBytes,
    },
  );
}
