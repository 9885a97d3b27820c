import { constants } from 'node:os';
import type { AgentConnection } from './agent-connection';
import type { EndedEvent } from './agent-messages';
import type { CommandEnd, CommandRecord } from '../../provider/command-record';
import { SandboxError } from '../../provider/sandbox-error';

/** How much longer than a limit the agent may take to report an end. After that it is considered dead. */
const agentSlackMs = 5_000;
const outputSlackBytes = 1024 * 1024;
const longestTimerMs = 2 ** 31 - 1;

/** One command on one booted agent: started, watched from outside, and killed. */
export class CommandRun {
  private readonly connection: AgentConnection;
  /** Of the secrets that the command may use, by their variables. */
  private readonly placeholders: Record<string, string> | undefined;
  private readonly outOfMemoryKillsBefore: number;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly number: number,
    private readonly record: CommandRecord,
    parts: { readonly connection: AgentConnection; readonly placeholders?: Record<string, string> | undefined },
  ) {
    this.connection = parts.connection;
    this.placeholders = parts.placeholders;
    this.outOfMemoryKillsBefore = this.connection.outOfMemoryKills();
  }

  /** Rejects when the agent refuses to start it. When the sandbox dies meanwhile, the command ends instead. */
  async start(cwd: string | undefined): Promise<void> {
    const { identity, limits } = this.record;
    this.watch();
    this.connection.subscribe(this.number, {
      output: (bytes) => this.output(bytes),
      end: (event) => this.end(event),
      lost: () => this.lost(),
    });
    const { id: idempotencyKey, session, command: script, openInput } = identity;
    const { timeoutMs, graceMs, maxOutputBytes } = limits;
    const request = {
      ...{ command: this.number, idempotencyKey, script, session, cwd, openInput },
      ...{ timeoutMs, graceMs, maxOutputBytes },
      ...(this.placeholders && { placeholders: this.placeholders }),
    };
    try {
      const started = await this.connection.request('run', request, agentSlackMs);
      if (this.record.running) this.record.cwd = started.cwd;
    } catch (error) {
      if (error instanceof SandboxError && error.code === 'lost') return;
      this.connection.unsubscribe(this.number);
      clearTimeout(this.deadline);
      throw error;
    }
  }

  async write(text: string): Promise<void> {
    await this.connection.request('input', { command: this.number, text }, agentSlackMs);
  }

  /** Resolves when no process of the command is alive: as the agent reports, or else because the whole sandbox is dead. */
  async kill(): Promise<void> {
    const { graceMs } = this.record.limits;
    const dead = await this.connection
      .request('kill', { command: this.number, graceMs }, graceMs + agentSlackMs)
      .then((answer) => answer.dead)
      .catch(() => false);
    if (!dead) await this.killSandbox();
    const timeout = setTimeout(() => void this.connection.kill(), agentSlackMs);
    await this.record.outcome;
    clearTimeout(timeout);
  }

  private watch(): void {
    const { timeoutMs, graceMs } = this.record.limits;
    if (timeoutMs === undefined) return;
    this.deadline = setTimeout(
      () => {
        this.record.expect('timeout', 'The sandbox stopped answering and was killed.');
        void this.connection.kill();
      },
      Math.min(timeoutMs + graceMs + agentSlackMs, longestTimerMs),
    );
  }

  private output(bytes: Buffer): void {
    this.record.accept(bytes);
    if (this.record.outputBytes > this.record.limits.maxOutputBytes + outputSlackBytes) {
      throw new Error('more output than the limit that was sent to the agent');
    }
  }

  private end(event: EndedEvent): void {
    clearTimeout(this.deadline);
    this.record.end(this.toEnd(event));
    if (event.dead === false) void this.connection.kill();
  }

  private lost(): void {
    clearTimeout(this.deadline);
    this.record.lose(this.ranOutOfMemory() ? 'oom' : 'sandbox-lost');
  }

  private toEnd({ reason, exitCode, signal, failure, cwd }: EndedEvent): CommandEnd {
    const detail = failure === undefined ? {} : { detail: failure };
    const code = exitCode ?? 128 + signalNumber(signal);
    if (reason !== 'exit') return { ending: reason, cwd, ...detail };
    if (signal !== undefined && this.record.expected) return { ...this.record.expected, cwd };
    if (code === 128 + constants.signals.SIGKILL) {
      // While a sandbox is being killed, the agent may outlive the command and report its death.
      if (this.record.expected) return { ...this.record.expected, cwd };
      if (this.ranOutOfMemory()) return { ending: 'oom', cwd };
    }
    return { ending: 'exit', exitCode: code, cwd, ...detail };
  }

  private ranOutOfMemory(): boolean {
    return this.connection.outOfMemoryKills() > this.outOfMemoryKillsBefore;
  }

  private async killSandbox(): Promise<void> {
    if (!(await this.connection.kill())) throw new SandboxError('failed', 'The command could not be verified dead.');
  }
}

function signalNumber(name: string | undefined): number {
  return Object.entries(constants.signals).find(([known]) => known === name)?.[1] ?? 0;
}
