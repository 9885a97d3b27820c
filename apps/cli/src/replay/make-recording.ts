import type { AgentDefinition, Message, RecordedFact, Run } from '@rondo/contract';
import { toSentence } from './difference';
import { type RecordedTask, type Recording, UnrecordableError } from './recording';
import { replayRun } from './replay-run';
import { findLacks } from './replay-tools';

/** A run as the gateway has it, when it is over. */
export interface EndedRun {
  readonly run: Run;
  readonly agent: AgentDefinition | null;
  readonly earlier: readonly Message[];
  readonly facts: readonly RecordedFact[];
}

/**
 * Makes the recording of a run from its log. The requests to the model are those of the loop over this log, and the recording is
 * kept only if the loop writes the log again, fact by fact. Rejects with UnrecordableError.
 */
export async function makeRecording(
  { run, agent, earlier, facts }: EndedRun,
  task: RecordedTask | null,
): Promise<Recording> {
  const reason = reasonAgainst(run, earlier, facts);
  if (reason !== undefined) throw new UnrecordableError(reason);
  const { id, thread_id, created_at, settings } = run;
  const lacks = findLacks(settings, facts);
  if (!lacks) throw new UnrecordableError('its tools are not those of this version of rondo');

  const draft = { run: { id, thread_id, created_at, settings }, agent, task, lacks, earlier, facts, requests: [] };
  const { difference, requests } = await replayRun(draft, { comparesRequests: false });
  if (difference) throw new UnrecordableError(`the loop does not write its log again: ${toSentence(difference)}`);
  return { ...draft, requests };
}

/** What the log does not have. */
function reasonAgainst(
  { status, settings }: Run,
  earlier: readonly Message[],
  facts: readonly RecordedFact[],
): string | undefined {
  if (status !== 'completed' && status !== 'failed')
    return `it is ${status}: only one that has completed or failed can be`;
  if (facts[0]?.seq !== 1) return 'retention has deleted the first facts of its log';
  if (settings.caller_tools) return 'its caller ran tools, which a replay cannot ask';
  if ((settings.mcp_servers ?? []).length > 0) return 'the tools of its MCP servers are not in its log';
  if (settings.environment) return 'its workspace was prepared before it began, which a replay does not do';
  if (settings.tool_policies)
    return 'its settings describe tools in their own way, and its log does not have the tools';
  if (earlier.some(({ type }) => type === 'summary')) return 'a summary has replaced a part of its thread';
  return facts.map(reasonIn).find((reason) => reason !== undefined);
}

function reasonIn(fact: RecordedFact): string | undefined {
  const place = `fact ${fact.seq}`;
  if (fact.type.startsWith('context.'))
    return `its conversation was compacted (${place}), by counts that the log does not have`;
  if (fact.type === 'run.waiting' && fact.data.reason === 'child_runs') return `it started other runs (${place})`;
  if (fact.type !== 'usage.recorded') return undefined;
  if (fact.data.finish_reason === 'continued') return `a reply of several model calls is in its log as one (${place})`;
  if (fact.data.finish_reason === 'malformed')
    return `a reply that was not in the required form is not in its log (${place})`;
  return undefined;
}
