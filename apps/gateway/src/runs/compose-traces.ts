import { type Database, readTracedRun } from '@rondo/persistence';
import type { Tracing } from '@rondo/platform';
import { RunTraces } from '@rondo/run-holder';
import { RunCreationTraces } from './run-creation-traces';

/** What the gateway writes of the traces of runs: how they were created, and the end of those that it ends itself. */
export function composeTraces(database: Database, tracing: Tracing, failed: (error: unknown) => void) {
  const runTraces = new RunTraces({ tracing, readRun: (id) => readTracedRun(database, id), failed });
  return {
    ...(tracing.isOn && { creationTraces: new RunCreationTraces(tracing), runTraces }),
    closeTraces: async () => {
      await runTraces.settled();
      await tracing.close();
    },
  };
}
