import { basename } from 'node:path';
import type { Rondo } from '@rondo/client';
import type { Terminal } from '../terminal';
import type { ScoredResult } from './scored-result';

type StoredTask = Parameters<Rondo['evaluations']['store']>[1]['results'][number];

const longestText = 2_000;
const cut = (text: string | null): string | null => text && text.slice(0, longestText);

const toStored = (result: ScoredResult): StoredTask => ({
  task_id: result.task_id,
  verdict: result.verdict,
  run_id: result.run_id,
  prediction: cut(result.prediction),
  expected: cut(result.true_answer),
  error: cut(result.agent_error),
  level: result.task,
  cost_usd: result.cost_usd,
  duration_s: result.duration_s,
});

/** Stores the results of a file under its name, for the pages of the console. A refusal is said, and ends nothing. */
export async function storeResults(
  file: string,
  results: readonly ScoredResult[],
  { rondo, terminal }: { readonly rondo: Rondo; readonly terminal: Terminal },
): Promise<void> {
  const [first] = results;
  if (!first) return;
  const { agent_name: agent, model } = first;
  const name = basename(file, '.jsonl');
  try {
    await rondo.evaluations.store(name, { agent, model, results: results.map(toStored) });
  } catch (error) {
    terminal.note(
      `The results are not stored in the gateway: ${error instanceof Error ? error.message : ''}`,
      'yellow',
    );
  }
}
