import { agentDefinition, message, recordedFact, run as runSchema } from '@rondo/contract';
import type { Rondo } from '@rondo/client';
import type { EndedRun } from './make-recording';

/** The run with its log, the messages before it and its agent, from the gateway. */
export async function readRun(id: string, rondo: Rondo): Promise<EndedRun> {
  const run = runSchema.parse(await rondo.runs.get(id));
  const facts = (await readList(rondo.runs.facts(id))).map((fact) => recordedFact.parse(fact));
  return { run, facts, agent: await findAgent(run, rondo), earlier: await earlierThan(run, facts, rondo) };
}

type Read = Pick<EndedRun, 'run' | 'facts'>;

async function findAgent(
  { agent_id: id, agent_version: version }: Read['run'],
  rondo: Rondo,
): Promise<EndedRun['agent']> {
  if (id === null) return null;
  for await (const one of rondo.agents.versions(id))
    if (one.version === version) return agentDefinition.parse(one.definition);
  return null;
}

/** What of its thread a run begins with: the messages for the model before its own. */
async function earlierThan(
  { id, thread_id: thread }: Read['run'],
  facts: Read['facts'],
  rondo: Rondo,
): Promise<EndedRun['earlier']> {
  const own = facts.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.seq] : []));
  const first = Math.min(...own);
  if (first <= 1) return [];
  const all = await readList(rondo.threads.messages(thread, { llm_only: true }));
  return all.map((one) => message.parse(one)).filter(({ run_id: runId, seq }) => runId !== id && seq < first);
}

async function readList<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
