import { type HostProcess, listDescendants } from './process-table';
import type { ProcessOwners } from './run-processes';

export interface ListedParts {
  /** The sandbox's first process: all others descend from it, orphans too. */
  readonly init: number;
  readonly agent: number;
  /** Stops every process of the sandbox but the agent, at once, of every run. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}

const toKey = ({ pid, startTicks }: HostProcess): string => `${pid} ${startTicks}`;

/**
 * For hosts without control groups: reads the sandbox's process table whenever another run begins. Processes that were there
 * before belong to an earlier run, with their descendants. All others belong to the current run.
 */
export class ListedOwners implements ProcessOwners {
  private readonly owners = new Map<string, string>();
  private current: string | undefined;

  constructor(private readonly parts: ListedParts) {}

  enter(run: string): Promise<void> {
    this.readOwners();
    this.current = run;
    return Promise.resolve();
  }

  of(run: string): HostProcess[] {
    return this.readOwners().filter((found) => this.owners.get(toKey(found)) === run);
  }

  /** Processes that keep forking and exiting can escape a read of the table, so all are frozen meanwhile. */
  preventForks(): Promise<void> {
    return this.parts.freeze();
  }

  allowForks(): Promise<void> {
    return this.parts.thaw();
  }

  /** Visits parents before their children, so that a child gets the owner of its parent. */
  private readOwners(): HostProcess[] {
    const living = listDescendants(this.parts.init).filter(({ pid }) => pid !== this.parts.agent);
    const ownersOfPids = new Map<number, string>();
    for (const found of living) {
      const owner = this.owners.get(toKey(found)) ?? ownersOfPids.get(found.parent) ?? this.current;
      if (owner !== undefined) ownersOfPids.set(found.pid, owner);
    }
    this.owners.clear();
    for (const found of living) {
      const owner = ownersOfPids.get(found.pid);
      if (owner !== undefined) this.owners.set(toKey(found), owner);
    }
    return living;
  }
}
