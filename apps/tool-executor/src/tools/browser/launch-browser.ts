import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { CommandRequest, Sandbox } from '../../sandboxes';
import { privateSession } from '../shell/tool-commands';
import { BrowserLost, BrowserProblem, PageUnresponsive } from './browser-errors';
import { writeAttachedScript, errorsFile, listeningScript, missing, startedEvent } from './browser-scripts';
import { CdpConnection } from './cdp-connection';

const startMs = 15_000;
const asideMs = 5_000;

const ready = z
  .string()
  .regex(/^ready \d+ \d{1,5}\/\S+\n$/)
  .transform((line) => {
    const [, pid = '', address = ''] = line.trim().split(' ');
    const slash = address.indexOf('/');
    return { pid: Number(pid), port: Number(address.slice(0, slash)), path: address.slice(slash) };
  });

const started = z.object({ pid: z.number().int().positive() });
const version = { result: z.object({ product: z.string() }), timeoutMs: startMs };

/** A browser that runs in a sandbox. */
export interface BrowserProcess {
  readonly pid: number;
  connect(): Promise<CdpConnection>;
}

/** Rejects with BrowserProblem where there is none, or it does not start. */
export async function launchBrowser(sandbox: Sandbox, run: string): Promise<BrowserProcess> {
  const { browser } = sandbox;
  if (browser === undefined) throw noBrowser();
  return sandbox.attach
    ? launchAttached(sandbox, await sandbox.attach(writeAttachedScript(browser), run))
    : launchListening(sandbox, { script: listeningScript(browser), run });
}

async function launchListening(
  sandbox: Sandbox,
  { script, run }: { script: string; run: string },
): Promise<BrowserProcess> {
  const { output, ending } = await runAside(sandbox, { command: script, run, timeoutMs: startMs });
  if (output === missing) throw noBrowser();
  const parsed = ready.safeParse(output);
  if (!parsed.success) throw notStarted(ending === 'exit' ? output.replace(/^failed /, '') : ending);
  const { pid, port, path } = parsed.data;
  return { pid, connect: async () => CdpConnection.over(await sandbox.connect(port), path) };
}

async function launchAttached(sandbox: Sandbox, stream: Duplex): Promise<BrowserProcess> {
  const connection = CdpConnection.overPipe(stream);
  let pid: number | undefined;
  connection.on(startedEvent, ({ params }) => ({ pid } = started.parse(params)));
  try {
    await connection.send({ method: 'Browser.getVersion' }, version);
    if (pid !== undefined) return { pid, connect: () => Promise.resolve(connection) };
  } catch (error) {
    if (!(error instanceof BrowserLost) && !(error instanceof PageUnresponsive)) throw error;
  }
  connection.close();
  throw await lastProblem(sandbox);
}

async function lastProblem(sandbox: Sandbox): Promise<BrowserProblem> {
  const command = `tail -n 1 ${errorsFile} 2>/dev/null`;
  const { output } = await runAside(sandbox, { command, timeoutMs: asideMs });
  return output === missing ? noBrowser() : notStarted(output);
}

const notStarted = (why: string) =>
  new BrowserProblem(`The browser could not be started: ${why.trim().slice(0, 500) || 'it ended at once.'}`);

const noBrowser = () =>
  new BrowserProblem(
    'There is no browser in this sandbox: its operator can set BROWSER_PATH, DOCKER_BROWSER_PATH or DAYTONA_BROWSER_PATH.',
  );

/** Kills it with all processes that it has started. Resolves when none of its process group is left. */
export async function killBrowser(sandbox: Sandbox, { pid }: BrowserProcess): Promise<void> {
  const command = `
line=$(tr -d '\\0' 2>/dev/null </proc/${pid}/cmdline)
case $line in '' | *remote-debugging-*) ;; *) exit ;; esac # The number may be used again.
kill -KILL -- -${pid} 2>/dev/null
while kill -0 -- -${pid} 2>/dev/null; do sleep 0.02; done`;
  await runAside(sandbox, { command, timeoutMs: asideMs });
}

/** Beside the agent's own commands: their session does not notice. */
const runAside = (sandbox: Sandbox, request: Pick<CommandRequest, 'command' | 'run' | 'timeoutMs'>) =>
  sandbox.exec({ id: `browser_${randomUUID()}`, session: privateSession, ...request });
