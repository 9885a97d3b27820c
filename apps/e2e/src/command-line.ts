import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RondoClient } from '@rondo/test-deployment';
import { quoteWord } from './rondo-program';

const program = resolve(__dirname, '../../cli/bin/rondo.mjs');

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What is typed once this is on the screen, or sent. */
export type Reply = readonly [seen: RegExp, typed: string];

/** The command `rondo` with the key of a deployment, in a folder of its own. */
export class CommandLine {
  readonly folder = mkdtempSync(join(tmpdir(), 'rondo-command-'));
  private readonly environment: NodeJS.ProcessEnv;

  constructor({ url, key }: RondoClient) {
    this.environment = { PATH: process.env.PATH, HOME: this.folder, RONDO_URL: url, RONDO_API_KEY: key };
  }

  /** In pipes. */
  inPipe(words: readonly string[], { input = '', replies = [] }: { input?: string; replies?: readonly Reply[] } = {}) {
    const child = spawn(process.execPath, [program, ...words], { cwd: this.folder, env: this.environment });
    if (replies.length === 0) child.stdin.end(input);
    return awaitEnd(child, (typed) => child.kill(typed as NodeJS.Signals), replies);
  }

  /** In a terminal, whose screen is `stdout`. */
  inTerminal(words: readonly string[], replies: readonly Reply[] = []): Promise<Finished> {
    const line = `exec ${[process.execPath, program, ...words].map(quoteWord).join(' ')}`;
    const env = { ...this.environment, TERM: 'xterm' };
    const child = spawn('script', ['-qfec', line, '/dev/null'], { cwd: this.folder, env });
    return awaitEnd(child, (typed) => child.stdin.write(typed), replies);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

function awaitEnd(
  child: ChildProcessWithoutNullStreams,
  reply: (typed: string) => void,
  replies: readonly Reply[],
): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  const left = [...replies];
  let from = 0;
  const look = () => {
    const [next] = left;
    if (!next?.[0].test(output.stdout.slice(from))) return;
    left.shift();
    from = output.stdout.length;
    reply(next[1]);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
    look();
  });
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  return new Promise((done) => child.on('close', (code) => done({ code: code ?? -1, ...output })));
}
