import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ticksToDate, type HostProcess } from './process-table';

/** Tells the processes of a sandbox apart by the run that started them. */
export interface ProcessOwners {
  /** What the agent starts from now on belongs to the run. */
  enter(run: string): Promise<void>;
  /** The live processes of a run. The agent and its init belong to none. */
  of(run: string): HostProcess[];
  /** Before everything of a run is killed: keeps it from multiplying meanwhile, as far as the host can. */
  seal(run: string): Promise<void>;
  /** When the kill is over, however it went. */
  unseal(): Promise<void>;
}

/** A process that a run had left running, as it was when the run was stopped. */
export interface LeftProcess {
  /** The name that it gave itself. */
  name: string;
  startedAt: Date;
  /** The command whose mark stands in its environment, where it kept that. */
  command: number | undefined;
}

export interface EndedRun {
  left: LeftProcess[];
  /** False when some of it could not be seen dead. */
  dead: boolean;
}

const lookAgainMs = 10;
const killWithinMs = 2_000;

/** Who started what in one booted sandbox, and the end of it. */
export class RunProcesses {
  private current: string | undefined;
  private entered = Promise.resolve();

  constructor(
    private readonly owners: ProcessOwners,
    /** The sandbox's first process, from which all others descend, and the one among them that is ours. */
    readonly own: { readonly init: number; readonly agent: number },
  ) {}

  /** Must precede a command of the run. */
  enter(run: string): Promise<void> {
    if (this.current !== run) {
      this.current = run;
      this.entered = this.entered.catch(() => undefined).then(() => this.owners.enter(run));
    }
    return this.entered;
  }

  /** SIGTERM, patience, SIGKILL, for whatever the run has left. */
  async end(run: string, graceMs: number): Promise<EndedRun> {
    if (this.current === run) this.current = undefined; // a command that comes late after all enters anew
    const left = new Map<string, LeftProcess>();
    const look = () => this.owners.of(run).map((found) => this.note(found, left));
    const until = Date.now() + graceMs;
    if (graceMs > 0) look().forEach((pid) => signal(pid, 'SIGTERM'));
    while (Date.now() < until && look().length > 0) await delay(lookAgainMs);

    await this.owners.seal(run);
    const dead = await killAll(look);
    await this.owners.unseal();
    return { left: [...left.values()], dead };
  }

  private note({ pid, name, startTicks }: HostProcess, left: Map<string, LeftProcess>): number {
    const key = `${pid} ${startTicks}`;
    if (!left.has(key))
      left.set(key, { name: printable(name), startedAt: ticksToDate(startTicks), command: markOf(pid) });
    return pid;
  }
}

/** A process names itself, and the name ends up in a receipt. */
const printable = (name: string): string => name.replace(/[^\x20-\x7e]/g, '?');

async function killAll(look: () => number[]): Promise<boolean> {
  const giveUpAt = Date.now() + killWithinMs;
  for (let pids = look(); pids.length > 0; pids = look()) {
    if (Date.now() > giveUpAt) return false;
    pids.forEach((pid) => signal(pid, 'SIGKILL'));
    await delay(lookAgainMs / 2);
  }
  return true;
}

function markOf(pid: number): number | undefined {
  try {
    const mark = /(?:^|\0)SANDBOX_COMMAND=(\d{1,15})\0/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
    return mark === undefined ? undefined : Number(mark);
  } catch {
    return undefined; // It ended while we looked, or hides it.
  }
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    return; // It was faster; whether all are dead is looked at afterwards.
  }
}
