import type { Execution, Run } from '@rondo/client';
import { isTerminal } from '@rondo/contract';
import type { Bar } from '../scorecard/findings';
import type { Examination } from '../test-bed/examine';
import { collect } from '../test-bed/patient-client';
import type { TestBed } from '../test-bed/test-bed';

/** What became of the things of one kind. */
export interface LoadAudit {
  readonly kind: string;
  readonly seen: number;
  /** Things that should be there and are not. */
  readonly lost: number;
  /** Things that are there more than once. */
  readonly doubled: number;
  /** What else must hold of them. */
  readonly bars: readonly Bar[];
  readonly details: readonly string[];
  readonly counts?: Readonly<Record<string, number>>;
  /** The runs that came from it, of the campaign's own account. */
  readonly runIds: readonly string[];
}

/** Starts things of one kind while faults are injected, and counts afterwards what has become of them. */
export interface Load {
  /** Starts them until `over` aborts. Resolves when all are over, `withinMs` later at the latest. */
  run(over: AbortSignal, withinMs: number): Promise<void>;
  /** `examination` is of all runs of the campaign's own account. */
  audit(examination: Examination): Promise<LoadAudit>;
}

/** How many of them come once more than they should. */
export const repeats = (things: readonly unknown[]): number => things.length - new Set(things).size;

/** The metadata by which the runs of a load are found in lists. */
export const markWith = (load: string): { metadata: Record<string, string> } => ({ metadata: { load } });

export const listRuns = ({ client }: TestBed, load: string): Promise<Run[]> =>
  collect(client.runs.list({ metadata_key: 'load', metadata_value: load }));

/** Its run is still to be created, or is not over. */
export const isUnderWay = ({ status, run_status: run }: Execution): boolean =>
  status === 'pending' || (run !== null && !isTerminal(run));
