import type { NewFact, RunError } from '@rondo/contract';
import type { RunState } from '../run/run-state';

/** The end of an open compaction without a summary. Nothing is lost by it; nothing is said where none is open. */
export const compactionFailed = ({ compaction, iteration }: RunState, error: RunError): NewFact[] =>
  compaction ? [{ type: 'context.compaction_failed', iteration, data: { compaction_id: compaction.id, error } }] : [];
