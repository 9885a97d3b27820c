import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RondoClient } from '@rondo/test-deployment';

const program = join(resolve(__dirname, '../../..'), 'apps/cli/bin/rondo.mjs');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What precedes each text of the last line of a terminal. */
export const eraseLine = '\r\u001b[K';

/** For a shell. */
export const quoteWord = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** The command `rondo` in a folder, for the account of a client. */
export class RondoProgram {
  private readonly environment: NodeJS.ProcessEnv;

  constructor(
    private readonly folder: string,
    client: RondoClient,
  ) {
    this.environment = {
      PATH: `${this.programs()}:${process.env.PATH ?? ''}`,
      HOME: folder,
      TERM: 'xterm',
      RONDO_URL: client.url,
      RONDO_API_KEY: client.key,
    };
  }

  start(...words: string[]): ChildProcess {
    return this.spawn(process.execPath, [program, ...words]);
  }

  run(...words: string[]): Promise<Finished> {
    return awaitExit(this.start(...words));
  }

  /** In a terminal of its own, whose screen is `stdout`. */
  runInTerminal(...words: string[]): Promise<Finished> {
    const line = `exec ${[process.execPath, program, ...words].map(quoteWord).join(' ')}`;
    return awaitExit(this.spawn('script', ['-qfec', line, '/dev/null']));
  }

  /** A script as it is in a document, where `npx rondo` is the command. It ends with the first line that fails. */
  runScript(text: string): Promise<Finished> {
    return awaitExit(this.spawn('bash', ['-euo', 'pipefail', '-c', text]));
  }

  private spawn(command: string, words: readonly string[]): ChildProcess {
    return spawn(command, words, { cwd: this.folder, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  private programs(): string {
    const folder = join(this.folder, '.programs');
    mkdirSync(folder);
    const npx = join(folder, 'npx');
    writeFileSync(npx, `#!/bin/sh\nshift\nexec ${quoteWord(process.execPath)} ${quoteWord(program)} "$@"\n`);
    chmodSync(npx, 0o755);
    return folder;
  }
}

export const awaitExit = (child: ChildProcess): Promise<Finished> =>
  new Promise((done) => {
    const output = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.on('close', (code) => done({ code, ...output }));
  });
