import { type HostProcess, descendantsOf } from './process-table';
import type { ProcessOwners } from './run-processes';

export interface ListedParts {
  /** The sandbox's first process: all others descend from it, orphans too. */
  readonly init: number;
  readonly agent: number;
  /** Stops every process of the sandbox but the agent, at once, of every run. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => Promise<void>;
}

const keyOf = ({ pid, startTicks }: HostProcess): string => `${pid} ${startTicks}`;

/**
 * Without control groups: the sandbox's process table, looked at whenever another run begins. What was there before is an
 * earlier run's, with its descendants. Whatever stands unexplained is the present run's.
 */
export class ListedOwners implements ProcessOwners {
  private readonly owners = new Map<string, string>();
  private current: string | undefined;

  constructor(private readonly parts: ListedParts) {}

  enter(run: string): Promise<void> {
    this.look();
    this.current = run;
    return Promise.resolve();
  }

  of(run: string): HostProcess[] {
    return this.look().filter((found) => this.owners.get(keyOf(found)) === run);
  }

  /** While processes start each other anew and end, a look at the table can miss them all. So all stand still meanwhile. */
  seal(): Promise<void> {
    return this.parts.freeze();
  }

  unseal(): Promise<void> {
    return this.parts.thaw();
  }

  /** Parents come before their children, so that a child of a known process is its owner's too. */
  private look(): HostProcess[] {
    const living = descendantsOf(this.parts.init).filter(({ pid }) => pid !== this.parts.agent);
    const ownersOfPids = new Map<number, string>();
    for (const found of living) {
      const owner = this.owners.get(keyOf(found)) ?? ownersOfPids.get(found.parent) ?? this.current;
      if (owner !== undefined) ownersOfPids.set(found.pid, owner);
    }
    this.owners.clear();
    for (const found of living) {
      const owner = ownersOfPids.get(found.pid);
      if (owner !== undefined) this.owners.set(keyOf(found), owner);
    }
    return living;
  }
}
