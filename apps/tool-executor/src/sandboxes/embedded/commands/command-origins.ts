import type { LeftProcess } from './run-processes';

interface Origin {
  readonly run: string;
  /** The number that stands in the environment of its processes. */
  readonly command: number;
  readonly commandId: string;
  readonly startedAt: Date;
}

/** Of one run; of a run with more, what the first ones left is taken for the oldest known one's. */
const remembered = 1_000;
/** Processes are dated by the clock that counts since the boot, in hundredths of a second. */
const inexactMs = 20;
const namesPerCommand = 20;

/** Which command of a run left a process behind. */
export class CommandOrigins {
  private origins: Origin[] = [];

  note(origin: Origin): void {
    this.origins = [...this.origins.slice(1 - remembered), origin];
  }

  /** The names of processes by the id of the command that left them. */
  groupByCommand(run: string, left: readonly LeftProcess[]): Map<string, string[]> {
    const ofRun = this.origins.filter((origin) => origin.run === run);
    this.origins = this.origins.filter((origin) => origin.run !== run);
    const names = new Map<string, string[]>();
    for (const found of left) {
      const commandId = originOf(found, ofRun)?.commandId;
      if (commandId === undefined) continue;
      names.set(commandId, [...(names.get(commandId) ?? []), found.name].slice(0, namesPerCommand));
    }
    return names;
  }
}

/** By its mark; of one that has cleared its environment, the last that had begun when the process did. */
function originOf({ command, startedAt }: LeftProcess, origins: readonly Origin[]): Origin | undefined {
  const marked = origins.find((origin) => origin.command === command);
  const latest = startedAt.getTime() + inexactMs;
  return marked ?? origins.findLast((origin) => origin.startedAt.getTime() <= latest) ?? origins[0];
}
