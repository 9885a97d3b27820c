import { createHash, randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningCommand } from '../provider/command-ledger';
import type { CommandRecord } from '../provider/command-record';
import type { Ending } from '../provider/sandbox';
import { SandboxError } from '../provider/sandbox-error';
import { workspacePath } from '../provider/workspace-path';
import { type DaytonaShell, commandScript, superviseScript } from './daytona-shell';

/** A request of `follow` waits for output this long, so that the end of a quiet command is known soon and costs few requests. */
const followMs = 5_000;
const mostBytes = 1024 * 1024;
/** The commands whose outputs stay in the sandbox. */
const keptCommands = 16;
/** From a signal's arrival to the note of the end. */
const endWithinMs = 5_000;
const longestTimerMs = 2 ** 31 - 1;

/** As directories of the sandbox are named. Ids may contain any character. */
export const toKey = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);

/**
 * One command in a sandbox at Daytona. A supervisor in the sandbox runs it and notes its output and its end in files, so
 * that it goes on while Daytona cannot be asked, and any executor can attach to it. Every request is activity, which keeps
 * Daytona from stopping the sandbox meanwhile.
 */
export class DaytonaCommand implements RunningCommand {
  private readonly key: string;
  private offset = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Resolves when no process of the command is left. */
  private killing: Promise<void> | undefined;
  private ending: Promise<void> | undefined;

  constructor(
    private readonly record: CommandRecord,
    private readonly shell: DaytonaShell,
    /** Kills everything in the sandbox; rejects when that cannot be verified. */
    private readonly stopSandbox: () => Promise<unknown>,
  ) {
    this.key = toKey(record.identity.id);
  }

  /** Resolves once it runs, or turns out to run already. `cwd` is relative to the workspace. */
  async start(cwd: string | undefined): Promise<void> {
    const { id, session, command, background, run = '', openInput = false } = this.record.identity;
    const answer = await this.shell.run('launch', {
      ...{ key: this.key, session: toKey(session), run: toKey(run), id, command, background: Number(background) },
      input: Number(openInput),
      cwd: cwd === undefined ? '' : posix.join(workspacePath, cwd),
      meta: toNote(this.record),
      ...{ supervise: superviseScript, script: commandScript, kept: keptCommands },
    });
    if (answer === 'not_a_directory\n') {
      throw new SandboxError('not_a_directory', `There is no directory ${cwd}.`);
    }
    await this.attach();
  }

  /** To a command that runs already, maybe started by another executor. */
  async attach(): Promise<void> {
    const ended = await this.look(0);
    if (ended) return;
    const { timeoutMs } = this.record.limits;
    if (timeoutMs !== undefined) {
      this.timer = setTimeout(
        () => void this.end('timeout').catch(() => undefined), // The record has its ending all the same.
        Math.min(timeoutMs, longestTimerMs),
      );
    }
    void this.follow();
  }

  async kill(): Promise<void> {
    await this.end('killed');
  }

  async write(text: string): Promise<void> {
    const content = Buffer.from(text).toString('base64');
    const answer = await this.shell.run('input', { key: this.key, content, request: randomUUID() });
    if (answer === 'ok\n') return;
    if (answer === 'closed\n') {
      throw new SandboxError('invalid_request', 'The command has ended, or was started without input.');
    }
    throw new SandboxError('failed', 'The command does not read its input.');
  }

  private async follow(): Promise<void> {
    try {
      while (this.record.running && !(await this.look(followMs)));
    } catch {
      this.record.lose('sandbox-lost'); // Whether it still runs is as unknown as after the loss of the sandbox.
    } finally {
      clearTimeout(this.timer);
    }
  }

  /** Reads what is new. True when the command has ended and all of its output was read. */
  private async look(wait: number): Promise<boolean> {
    const { key, record } = this;
    const offset = this.isOverLimit ? Number.MAX_SAFE_INTEGER : this.offset;
    const session = toKey(record.identity.session);
    const text = await this.shell.run('follow', { key, session, offset, wait, most: mostBytes });
    const [head = '', data = ''] = text.split('\n');
    const [state = '', size = '0', cwd = ''] = head.split(' ');
    if (!record.running) return true;
    this.accept(Buffer.from(data, 'base64'));
    record.cwd = Buffer.from(cwd, 'base64').toString() || workspacePath;
    if (state === 'running' || (!this.isOverLimit && this.offset < Number(size))) return false;
    await this.killing; // Its descendants may outlive the command, and a repeated call uses the same mark as this one.
    this.finish(state);
    return true;
  }

  private get isOverLimit(): boolean {
    return this.offset > this.record.limits.maxOutputBytes;
  }

  private accept(bytes: Buffer): void {
    const remaining = Math.max(this.record.limits.maxOutputBytes - this.offset, 0);
    this.offset += bytes.length;
    const accepted = bytes.subarray(0, remaining);
    if (accepted.length > 0) this.record.accept(accepted);
    if (this.isOverLimit) this.end('output-limit', 0).catch(() => undefined); // The record has its ending all the same.
  }

  private finish(state: string): void {
    const { record } = this;
    const code = /^exit:(\d+)$/.exec(state)?.[1];
    if (code !== undefined) record.end({ ending: 'exit', exitCode: Number(code) });
    else record.lose(state === 'killed' ? 'killed' : 'sandbox-lost');
  }

  /** Resolves when the command and all of its descendants are dead: by their signals, or else because the sandbox has stopped. */
  private end(ending: Ending, graceMs = this.record.limits.graceMs): Promise<void> {
    this.record.expect(ending);
    this.killing ??= this.killAll(graceMs);
    this.ending ??= this.killing.then(() => this.awaitEnd());
    return this.ending;
  }

  private async killAll(grace: number): Promise<void> {
    const { key } = this;
    const answer = await this.shell.run('kill', { pattern: `[^:]*:${key}$`, keys: key, grace }).catch(() => '');
    if (!answer.endsWith('left 0\n')) await this.stopSandbox();
  }

  /** What it wrote last is read first, if that is possible soon. */
  private async awaitEnd(): Promise<void> {
    await Promise.race([this.record.outcome, delay(endWithinMs, undefined, { ref: false })]);
    this.record.lose('killed');
  }
}

/** What another executor needs to attach to it. */
export function toNote({ identity, limits, startedAt }: CommandRecord): string {
  return JSON.stringify({ identity, limits, startedAt: startedAt.toISOString() });
}
