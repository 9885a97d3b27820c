import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { SandboxError } from '../provider/sandbox-error';
import type { DaytonaClient, Machine } from './daytona-client';
import { DaytonaTerminal, terminalScript } from './daytona-terminal';

const scripts = {
  prepare: toScript('prepare'),
  launch: toScript('launch'),
  supervise: toScript('supervise'),
  follow: toScript('follow'),
  kill: toScript('kill'),
  input: toScript('input'),
  listens: toScript('listens'),
  job: toScript('job'),
  files: toScript('files'),
};
const functions = toScript('processes');

/** Where the scripts keep what they know of commands. Not in the workspace, which belongs to the user. */
export const stateDirectory = '/tmp/.rondo';
/** Around each command: sandboxes of all providers carry a session's directory and environment over in the same way. */
export const commandScript = readFileSync(join(__dirname, '../provider/in-sandbox/command.sh'), 'utf8').replace(
  /^#.*\n/gm,
  '',
);
export const superviseScript = scripts.supervise;

const activityMs = 60_000;

export type Variables = Readonly<Record<string, string | number | readonly string[]>>;

/**
 * Runs the scripts of `in-sandbox` by Daytona's call for a command, one request each. A script is sent in base64, so that it
 * arrives unchanged whatever it contains. Its answer is ASCII. Sandboxed code could forge one, and would deceive only itself.
 */
export class DaytonaShell {
  private readonly closing = new AbortController();
  /** A request has failed for good: the sandbox may have stopped or gone, and has to be looked for again. */
  isBroken = false;

  constructor(
    private readonly client: DaytonaClient,
    readonly machine: Machine,
  ) {
    setMaxListeners(0, this.closing.signal); // Every request that is being repeated listens.
  }

  /** Repeats the request while Daytona is away: every script may run twice. */
  async run(script: Exclude<keyof typeof scripts, 'supervise'>, variables: Variables = {}): Promise<string> {
    const assignments = Object.entries({ root: stateDirectory, ...variables }).map(
      ([name, value]) => `${name}=${quoteValue(value)}`,
    );
    const text = [...assignments, functions, scripts[script]].join('\n');
    const command = `echo ${Buffer.from(text).toString('base64')} | base64 -d | bash --norc --noprofile`;
    const timeoutS = Math.ceil(this.client.settings.requestTimeoutMs / 1_000);
    const { exitCode, result } = await this.ask(() =>
      this.machine.process.executeCommand(command, undefined, undefined, timeoutS),
    );
    if (exitCode !== 0) throw new SandboxError('failed', `The sandbox could not do it (${script}, ${exitCode}).`);
    return result;
  }

  /** Repeated like `run`. */
  async upload(content: Buffer, path: string): Promise<void> {
    await this.ask(() => this.machine.fs.uploadFile(content, path));
  }

  /**
   * Runs a script in a terminal; one attempt. `used` is called for each write. The service, which does not see them as activity, is
   * told of them once a minute.
   */
  async terminal(script: string, used: () => void): Promise<Duplex> {
    const terminal = terminalScript(script);
    const path = `${stateDirectory}/terminal-${terminal.id}.sh`;
    await this.upload(Buffer.from(terminal.text), path);
    let told = Date.now();
    const tell = () => {
      used();
      if (Date.now() - told < activityMs) return;
      told = Date.now();
      this.machine.refreshActivity().catch(() => undefined); // The next write tells it again.
    };
    return this.client.once(() => DaytonaTerminal.open(this.machine, { path, script: terminal, used: tell }));
  }

  /** Repeats nothing any more: the sandbox has stopped. */
  close(): void {
    this.isBroken = true;
    this.closing.abort();
  }

  private ask<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.client.persistently(work, this.closing.signal).catch((error: unknown) => {
      this.isBroken = true;
      throw error;
    });
  }
}

function toScript(name: string): string {
  return readFileSync(join(__dirname, 'in-sandbox', `${name}.sh`), 'utf8').replace(/^ *#.*\n/gm, '');
}

function quoteValue(value: string | number | readonly string[]): string {
  if (typeof value === 'object') return `(${value.map(quoteValue).join(' ')})`;
  return `'${String(value).replaceAll("'", `'\\''`)}'`;
}
