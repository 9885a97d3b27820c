import type { LeftoverProcess } from './run-processes';

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
