import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { diesWithin } from '../processes/process-liveness';
import { Duplex } from 'node:stream';

const lastErrorBytes = 4_000;
const deathTimeoutMs = 3_000;

/** The child process of an agent: its last lines of stderr, and its verified death. */
export class AgentProcess {
  /** The first process of the sandbox: when it is dead, the kernel has killed all others in its namespace. */
  private firstPid: number | undefined;
  private reportFirst: (pid: number) => void = () => {};
  /** Resolves once it exists. */
  readonly first = new Promise<number>((resolve) => (this.reportFirst = resolve));
  private lastErrors = '';
  readonly ended: Promise<string>;

  constructor(private readonly child: ChildProcess) {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastErrors = (this.lastErrors + text).slice(-lastErrorBytes);
    });
    this.ended = this.watch();
  }

  /** bubblewrap reports it once the process exists. */
  setFirstPid(pid: number): void {
    this.firstPid ??= pid;
    this.reportFirst(this.firstPid);
  }

  async kill(): Promise<boolean> {
    if (this.child.pid === undefined) return true;
    const pids = [this.firstPid, this.child.pid].filter((pid) => pid !== undefined);
    if (this.child.exitCode === null && this.child.signalCode === null) {
      for (const pid of pids) kill(pid);
    }
    const deaths = await Promise.all(pids.map((pid) => diesWithin(pid, deathTimeoutMs)));
    return deaths.every(Boolean);
  }

  private async watch(): Promise<string> {
    await once(this.child, 'exit').catch((error: unknown) => {
      this.lastErrors += String(error); // The program could not be started at all.
    });
    if (this.firstPid !== undefined) await diesWithin(this.firstPid, deathTimeoutMs);
    return this.lastErrors.trim();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return; // It has ended already. Its death is verified afterwards.
  }
}

/** The parent's end of a descriptor that a child was spawned with. Beyond stderr these are sockets, which are duplex. */
export function toPipe(child: ChildProcess, descriptor: number): Duplex {
  const pipe = Array.from<unknown>(child.stdio)[descriptor];
  if (pipe instanceof Duplex) return pipe;
  throw new Error(`The child has no pipe ${descriptor}.`);
}
