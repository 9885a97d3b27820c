import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Fact, LogHash, type LogProof } from '@rondo/client';
import { type Command, type Context, UsageError } from '../command';
import type { Ending } from '../exit-codes';

async function verifyRun(id: string, { rondo, terminal }: Context): Promise<Ending> {
  const proof = await rondo().runs.verify(id);
  const { gateway, hash, count, isProven } = proof;
  const range = gateway.first === null ? 'no facts' : `facts ${gateway.first} to ${gateway.last ?? 0}`;
  const trimmed = gateway.trimmed ? `, the ${gateway.trimmed.through} before them deleted by retention` : '';
  const origin = gateway.forked_from;
  if (terminal.isJson) terminal.json({ run_id: id, is_proven: isProven, count, hash, gateway });
  else if (isProven) terminal.line(`complete: ${range}${trimmed}, no gap, the same hash here and there\n${hash}`);
  else
    terminal.line(
      `NOT PROVEN: ${explain(proof)}${hash === gateway.hash ? '' : `\nhere  ${hash}\nthere ${gateway.hash}`}`,
    );
  if (origin?.holds !== false) return isProven ? 'ok' : 'failed';
  terminal.note(`Its origin ${origin.run_id} has another log up to fact ${origin.seq} than when it was forked.`, 'red');
  return 'failed';
}

function explain({ missing, count, hash, gateway }: LogProof): string {
  if (missing !== undefined) return `fact ${missing} is missing`;
  if (gateway.differences)
    return ['the gateway shows something else than its log', ...gateway.differences].join('\n- ');
  return hash === gateway.hash
    ? `the log has facts up to ${gateway.last ?? 0}, and its run has written ${gateway.head_seq ?? 0}`
    : `${count} facts read, ${gateway.count} in the log`;
}

function listFacts(text: string): Fact[] {
  try {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Fact).filter(({ seq }) => typeof seq === 'number'); // only `seq` is used
  } catch (cause) {
    throw new UsageError('The file is not what rondo export writes: a fact as JSON in each line.', { cause });
  }
}

async function verifyFile(file: string, expected: string | undefined, { terminal }: Context): Promise<Ending> {
  const facts = listFacts(await readFile(file, 'utf8'));
  const log = new LogHash();
  for (const fact of facts) await log.add(fact);
  const { count, isContiguous, hash } = log;
  const isProven = isContiguous && (expected === undefined || expected === hash);
  if (terminal.isJson) terminal.json({ file, is_proven: isProven, count, hash });
  else if (!isContiguous) terminal.line(`NOT PROVEN: the ${count} facts are not 1 to ${count} without a gap`);
  else terminal.line(`${isProven ? `${count} facts, no gap` : `NOT PROVEN: expected ${expected ?? ''}`}\n${hash}`);
  return isProven ? 'ok' : 'failed';
}

export const verify: Command = {
  name: 'verify',
  summary: "Compute the hash of a run's log here and compare it with the gateway's",
  args: [{ name: 'RUN|FILE' }],
  options: [{ name: 'hash', value: 'HASH', help: 'of a file: the hash that it must have' }],
  details:
    'Also says where the gateway shows something else of the run than its log.\nA FILE is what `rondo export` wrote; it needs no gateway.',
  run(given, context) {
    const [target = ''] = given.args;
    return existsSync(target) ? verifyFile(target, given.value('hash'), context) : verifyRun(target, context);
  },
};

export const exportRun: Command = {
  name: 'export',
  summary: 'Write the facts of a run, a JSON object in each line',
  args: [{ name: 'RUN' }],
  async run(given, { rondo, terminal }) {
    for await (const fact of rondo().runs.facts(given.args[0] ?? '')) terminal.json(fact);
    return 'ok';
  },
};
