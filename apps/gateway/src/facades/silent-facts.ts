import type { FactType, RecordedFact } from '@rondo/contract';

/** Facts that no protocol of a façade has a word for. Each translator shows or passes over every other one by its name. */
const silent = [
  'run.created',
  'run.forked',
  'budget.raised',
  'tool.resolved',
  'tool.input_requested',
  'tool.input_given',
  'tool.task_created',
  'secret.requested',
  'secret.decided',
  'browser.state',
  'context.compaction_started',
  'context.compaction_failed',
  'mcp.connected',
  'mcp.skipped',
  'workspace.preparing',
  'workspace.prepared',
  'workspace.rewinding',
  'workspace.rewound',
  'database.replaced',
] as const satisfies readonly FactType[];

type SilentType = (typeof silent)[number];
const types: ReadonlySet<FactType> = new Set(silent);

export const isSilent = (fact: RecordedFact): fact is Extract<RecordedFact, { type: SilentType }> =>
  types.has(fact.type);
