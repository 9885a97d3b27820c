import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const repository = join(__dirname, '../../../..');

/** This service compiled as it is for production, for programs that a spec starts and kills. */
export class CompiledExecutor {
  private constructor(readonly directory: string) {}

  static async build(): Promise<CompiledExecutor> {
    const directory = await mkdtemp(join(tmpdir(), 'executor-built-'));
    const swc = require.resolve('@swc/cli/bin/swc.js');
    const flags = ['--strip-leading-paths', '--copy-files', '--quiet', '--config-file', join(repository, '.swcrc')];
    const compile = [swc, 'src', '-d', directory, ...flags, '--ignore', '**/*.spec.ts'];
    await promisify(execFile)(process.execPath, compile, { cwd: join(__dirname, '../..') });
    return new CompiledExecutor(directory);
  }

  /** Runs a program in which `built` is the directory of the compiled files. Its output is a pipe. */
  start(program: string): ChildProcess & { readonly stdout: NonNullable<ChildProcess['stdout']> } {
    const source = `const built = ${JSON.stringify(this.directory)};\n${program}`;
    return spawn(process.execPath, ['-e', source], {
      env: { ...process.env, NODE_PATH: join(repository, 'node_modules') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Resolves when a program says something. Rejects if it ends before, as one does that names a file which has moved. */
export async function firstOutput(program: ReturnType<CompiledExecutor['start']>): Promise<void> {
  const end = once(program, 'exit').then(([code]) => {
    throw new Error(`the program ended with ${String(code)} before it said anything`);
  });
  await Promise.race([once(program.stdout, 'data'), end]);
  end.catch(() => undefined); // it ends later, and is killed by its spec
}
