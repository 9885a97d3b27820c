import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { type RondoClient, type RunningRondo, scriptInput } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { atOtherGateway, killWorkers, newAccount, startPaired } from '../shared-deployment';

/** An account of a spec, in the deployment that it shares with others. */
export class FacadeDeployment {
  private running: { readonly rondo: RunningRondo; readonly client: RondoClient } | undefined;

  private constructor() {
    // Only `forSuite` makes one, because it is ready only where its hook has run.
  }

  static forSuite(): FacadeDeployment {
    const deployment = new FacadeDeployment();
    beforeAll(async () => {
      const rondo = await startPaired();
      deployment.running = { rondo, client: await newAccount(rondo) };
    });
    return deployment;
  }

  private get started() {
    if (!this.running) throw new Error('the deployment has not started');
    return this.running;
  }

  get client(): RondoClient {
    return this.started.client;
  }

  /** A client of the second gateway. */
  get other(): RondoClient {
    return atOtherGateway(this.started.rondo, this.client);
  }

  /** A client of another account. */
  async newTenant(): Promise<RondoClient> {
    return newAccount(this.started.rondo);
  }

  killGateway(name = 'gateway'): Promise<void> {
    return this.started.rondo.services.get(name).kill();
  }

  /** Resolves when it serves again. */
  startGateway(name = 'gateway'): Promise<void> {
    return this.started.rondo.services.get(name).start();
  }

  killWorkers(): Promise<void> {
    return killWorkers(this.started.rondo);
  }
}

/** An input that makes `demo/scripted` replay these turns. `words` make each conversation different. */
export const about = (words: string, turns: readonly Record<string, unknown>[]): string =>
  scriptInput(words, turns).input;

/** At a pace of 20 ms about five seconds of text, and text that has no part twice. */
export const long = Array.from({ length: 250 }, (_, n) => `Sentence ${n}.`).join(' ');

/** What Node.js printed, with these words and no more of an environment. Rejects with all of it where it ended with an error. */
export async function runNode(words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, words, { cwd: repoRoot, env: { PATH: process.env['PATH'], ...env } });
  child.stdin.end();
  const code = new Promise((resolve) => child.on('close', resolve));
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await code) !== 0) throw new Error(`it ended with ${String(await code)}:\n${printed}\n${errors}`);
  return printed;
}
