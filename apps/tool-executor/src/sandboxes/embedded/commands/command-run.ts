import { constants } from 'node:os';
import type { AgentConnection } from '../agent/agent-connection';
import type { EndedEvent } from '../agent/agent-messages';
import type { CommandEnd, CommandRecord } from './command-record';
import { SandboxError } from '../../sandbox-error';

/** What an honest agent needs beyond a limit before it has reported an end. Then it is taken for dead. */
const agentSlackMs = 5_000;
const outputSlackBytes = 1024 * 1024;
const longestTimerMs = 2 ** 31 - 1;

/** One command on one booted agent: started, watched from outside, and killed. */
export class CommandRun {
  private readonly outOfMemoryKillsBefore: number;
  private deadline: NodeJS.Timeout | undefined;

  constructor(
    private readonly number: number,
    private readonly record: CommandRecord,
    private readonly connection: AgentConnection,
  ) {
    this.outOfMemoryKillsBefore = connection.outOfMemoryKills();
  }

  /** Rejects when the agent refuses to start it. A sandbox that dies meanwhile ends the command instead. */
  async start(cwd: string | undefined): Promise<void> {
    const { identity, limits } = this.record;
    this.watch();
    this.connection.follow(this.number, {
      output: (bytes) => this.output(bytes),
      ended: (event) => this.ended(event),
      lost: () => this.lost(),
    });
    const { id: idempotencyKey, session, command: script } = identity;
    const { timeoutMs, graceMs, maxOutputBytes } = limits;
    const request = {
      ...{ command: this.number, idempotencyKey, script, session, cwd },
      ...{ timeoutMs, graceMs, maxOutputBytes },
    };
    try {
      const started = await this.connection.request('run', request, agentSlackMs);
      if (this.record.running) this.record.cwd = started.cwd;
    } catch (error) {
      if (error instanceof SandboxError && error.code === 'lost') return;
      this.connection.unfollow(this.number);
      clearTimeout(this.deadline);
      throw error;
    }
  }

  /** Resolves when nothing of the command is alive: by the agent's word, or else because the whole sandbox is dead. */
  async kill(): Promise<void> {
    const { graceMs } = this.record.limits;
    const dead = await this.connection
      .request('kill', { command: this.number, graceMs }, graceMs + agentSlackMs)
      .then((answer) => answer.dead)
      .catch(() => false);
    if (!dead) await this.killSandbox();
    const impatience = setTimeout(() => void this.connection.kill(), agentSlackMs);
    await this.record.outcome;
    clearTimeout(impatience);
  }

  private watch(): void {
    const { timeoutMs, graceMs } = this.record.limits;
    if (timeoutMs === undefined) return;
    this.deadline = setTimeout(
      () => {
        this.record.expect('timeout', 'The sandbox did not answer any more and was killed.');
        void this.connection.kill();
      },
      Math.min(timeoutMs + graceMs + agentSlackMs, longestTimerMs),
    );
  }

  private output(bytes: Buffer): void {
    this.record.accept(bytes);
    if (this.record.outputBytes > this.record.limits.maxOutputBytes + outputSlackBytes) {
      throw new Error('more output than the agent was told to pass on');
    }
  }

  private ended(event: EndedEvent): void {
    clearTimeout(this.deadline);
    this.record.end(this.endOf(event));
    if (event.dead === false) void this.connection.kill();
  }

  private lost(): void {
    clearTimeout(this.deadline);
    this.record.lose(this.ranOutOfMemory() ? 'oom' : 'sandbox-lost');
  }

  private endOf({ reason, exitCode, signal, failure, cwd }: EndedEvent): CommandEnd {
    const detail = failure === undefined ? {} : { detail: failure };
    const code = exitCode ?? 128 + signalNumber(signal);
    if (reason !== 'exit') return { ending: reason, cwd, ...detail };
    if (signal !== undefined && this.record.expected) return { ...this.record.expected, cwd };
    if (code === 128 + constants.signals.SIGKILL) {
      // While the sandbox is killed around it, an agent may still see its command die first.
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
