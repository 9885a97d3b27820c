import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ticksToDate, type HostProcess } from './process-table';

/** Attributes the processes of a sandbox to the runs that started them. */
export interface ProcessOwners {
  /** Processes that the agent starts from now on belong to the run. */
  enter(run: string): Promise<void>;
  /** The live processes of a run. The agent and its init belong to none. */
  of(run: string): HostProcess[];
  /** Called before the processes of a run are killed: prevents them from forking, as far as the host can. */
  preventForks(run: string): Promise<void>;
  /** Called after the kill, also when it failed. */
  allowForks(): Promise<void>;
}

/** A process that a run had left running, as it was when the run was stopped. */
interface LeftoverProcess {
  /** The name that it gave itself. */
  name: string;
  startedAt: Date;
  /** The command whose number is in its environment, if it kept that. */
  command: number | undefined;
}

interface EndedRun {
  leftovers: LeftoverProcess[];
  /** False when some process could not be verified dead. */
  dead: boolean;
}

const checkEveryMs = 10;
const killWithinMs = 2_000;

/** The processes of one booted sandbox by run, and how to end those of a run. */
export class RunProcesses {
  private current: string | undefined;
  private entered = Promise.resolve();

  constructor(
    private readonly owners: ProcessOwners,
    /** The sandbox's first process, from which all others descend, and the agent. */
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

  /** SIGTERM, the grace time, then SIGKILL for everything that the run has left running. */
  async end(run: string, graceMs: number): Promise<EndedRun> {
    if (this.current === run) this.current = undefined; // A later command of the run enters again.
    const leftovers = new Map<string, LeftoverProcess>();
    const look = () => this.owners.of(run).map((found) => this.record(found, leftovers));
    const until = performance.now() + graceMs;
    if (graceMs > 0) look().forEach((pid) => signal(pid, 'SIGTERM'));
    while (performance.now() < until && look().length > 0) await delay(checkEveryMs);

    await this.owners.preventForks(run);
    const dead = await killAll(look);
    await this.owners.allowForks();
    return { leftovers: [...leftovers.values()], dead };
  }

  private record({ pid, name, startTicks }: HostProcess, leftovers: Map<string, LeftoverProcess>): number {
    const key = `${pid} ${startTicks}`;
    if (!leftovers.has(key))
      leftovers.set(key, { name: printable(name), startedAt: ticksToDate(startTicks), command: findCommand(pid) });
    return pid;
  }
}

/** A process chooses its own name, and the name is shown in a receipt. */
const printable = (name: string): string => name.replace(/[^\x20-\x7e]/g, '?');

async function killAll(look: () => number[]): Promise<boolean> {
  const deadline = performance.now() + killWithinMs;
  for (let pids = look(); pids.length > 0; pids = look()) {
    if (performance.now() > deadline) return false;
    pids.forEach((pid) => signal(pid, 'SIGKILL'));
    await delay(checkEveryMs / 2);
  }
  return true;
}

function findCommand(pid: number): number | undefined {
  try {
    const mark = /(?:^|\0)SANDBOX_COMMAND=[0-9a-f-]{36}:(\d{1,15})\0/.exec(
      readFileSync(`/proc/${pid}/environ`, 'latin1'),
    )?.[1];
    return mark === undefined ? undefined : Number(mark);
  } catch {
    return undefined; // It has ended meanwhile, or its environment is not readable.
  }
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    return; // It has ended already. The process table is checked afterwards.
  }
}

interface Origin {
  readonly run: string;
  /** The number in the environment of its processes. */
  readonly command: number;
  readonly commandId: string;
  readonly startedAt: Date;
}

/** Beyond this, processes of the oldest commands are attributed to the oldest one still known. */
const remembered = 1_000;
/** Start times of processes are in hundredths of a second since the boot. */
const clockErrorMs = 20;
const namesPerCommand = 20;

/** Attributes leftover processes of a run to the command that started them. */
export class CommandOrigins {
  private origins: Origin[] = [];

  note(origin: Origin): void {
    this.origins = [...this.origins.slice(1 - remembered), origin];
  }

  /** The names of processes by the id of the command that left them. */
  groupByCommand(run: string, leftovers: readonly LeftoverProcess[]): Map<string, string[]> {
    const ofRun = this.origins.filter((origin) => origin.run === run);
    this.origins = this.origins.filter((origin) => origin.run !== run);
    const names = new Map<string, string[]>();
    for (const found of leftovers) {
      const commandId = findOrigin(found, ofRun)?.commandId;
      if (commandId === undefined) continue;
      names.set(commandId, [...(names.get(commandId) ?? []), found.name].slice(0, namesPerCommand));
    }
    return names;
  }
}

/** By the number in its environment; without one, the last command that had started before the process did. */
function findOrigin({ command, startedAt }: LeftoverProcess, origins: readonly Origin[]): Origin | undefined {
  const marked = origins.find((origin) => origin.command === command);
  const latest = startedAt.getTime() + clockErrorMs;
  return marked ?? origins.findLast((origin) => origin.startedAt.getTime() <= latest) ?? origins[0];
}
