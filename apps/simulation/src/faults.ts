import type { ExecutorPoint, Fault, MessageFate, Schedule } from './schedule';

type Counted = Extract<Fault, { nth: number }>['kind'];

/** Decides for each operation of a simulated process whether a fault of the schedule applies to it. */
export class Faults {
  /** The number of faults that have occurred. */
  struck = 0;
  private readonly counts = new Map<Counted, number>();
  private readonly byOrdinal = new Map<string, Fault>();

  constructor(private readonly schedule: Schedule) {
    for (const fault of schedule.faults) if ('nth' in fault) this.byOrdinal.set(`${fault.kind} ${fault.nth}`, fault);
  }

  /** The faults that occur at a given time. */
  get timed(): readonly Exclude<Fault, { nth: number }>[] {
    return this.schedule.faults.flatMap((fault) => ('nth' in fault ? [] : [fault]));
  }

  storeRequest(): 'lost' | 'answer lost' | 'late' | undefined {
    return this.strike('store request')?.fate;
  }

  message(kind: 'job' | 'stop signal' | 'tool message'): MessageFate | undefined {
    return this.strike(kind)?.fate;
  }

  /** The fault of the worker at this write, if any. */
  write(): { readonly dies?: 'before' | 'after' | undefined; readonly pausesMs?: number | undefined } {
    return { dies: this.strike('worker dies at write')?.side, pausesMs: this.strike('worker pauses at write')?.forMs };
  }

  /** The point of this call at which the executor dies, if it does. */
  call(): ExecutorPoint | undefined {
    return this.strike('executor dies at call')?.point;
  }

  private strike<Kind extends Counted>(kind: Kind): Extract<Fault, { kind: Kind }> | undefined {
    const nth = this.counts.get(kind) ?? 0;
    this.counts.set(kind, nth + 1);
    const fault = this.byOrdinal.get(`${kind} ${nth}`);
    if (fault) this.struck += 1;
    return fault as Extract<Fault, { kind: Kind }> | undefined; // the key names the kind
  }
}
