export interface InjectedFault {
  readonly fault: string;
  /** The instance that it hit: `agent-worker-2`, `postgres`. */
  readonly target: string;
  readonly at: number;
}

/** The faults injected into the deployment, with their times. */
export class FaultLog {
  readonly faults: InjectedFault[] = [];

  note(fault: string, target: string): void {
    this.faults.push({ fault, target, at: Date.now() });
  }

  /** The times of this fault on instances of this service. */
  times(fault: string, service: string): number[] {
    return this.faults
      .filter((entry) => entry.fault === fault && isInstance(entry.target, service))
      .map(({ at }) => at);
  }

  /** The last fault before this moment, in words. */
  before(moment: number): string {
    const last = this.faults.findLast(({ at }) => at <= moment);
    return last ? `${moment - last.at} ms after ${last.fault} ${last.target}` : 'before any fault';
  }

  /** The number of faults by kind and service. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { fault, target } of this.faults) {
      const what = `${fault} ${toService(target)}`;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    return counts;
  }
}

/** `agent-worker-2` is an instance of `agent-worker`. */
export const isInstance = (name: string, service: string): boolean => toService(name) === service;

const toService = (name: string): string => name.replace(/-\d+$/, '');
