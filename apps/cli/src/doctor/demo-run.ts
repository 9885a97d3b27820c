import type { Rondo, Run } from '@rondo/client';
import { type Finding, broken, toMessage, ok, skip, warning } from './finding';

const patienceMs = 30_000;

/** A scripted model, which runs one command in a sandbox. */
const script = [
  { calls: [{ name: 'execute_command', arguments: { command: 'echo doctor', blocking: true, timeout: 10 } }] },
  { text: 'Over.' },
];

/** A whole run with a command in a sandbox: workers, queue, tool-executor and isolation, and then the proof of its log. */
export async function checkRun(rondo: Rondo): Promise<Finding[]> {
  const providers = await rondo.modelProviders();
  if (!providers.includes('demo')) return [skip('a run', 'this deployment has no demo models')];
  const input = `rondo doctor\n\`\`\`demo-script\n${JSON.stringify(script)}\n\`\`\``;
  const { id } = await rondo.runs.create({ model: 'demo/scripted', input });
  try {
    const run = await rondo.runs.wait(id, { signal: AbortSignal.timeout(patienceMs) });
    return [toEnding(run), await readTool(rondo, id), await readProof(rondo, id)];
  } catch (error) {
    const { status } = await rondo.runs.get(id);
    await rondo.runs
      .stop(id, { reason: 'rondo doctor', signal: AbortSignal.timeout(patienceMs) })
      .catch(() => undefined);
    return [
      broken('a run', [`it was still ${status} after ${patienceMs / 1000} s (${toMessage(error)})`, adviceFor(status)]),
    ];
  }
}

const adviceFor = (status: Run['status']): string =>
  status === 'queued'
    ? 'No worker took it: .data/logs/agent-worker.log, and Redis'
    : 'Its tool was not run: .data/logs/tool-executor.log, and NATS';

const toEnding = ({ id, status, error }: Run): Finding =>
  status === 'completed'
    ? ok('a run', `${id} completed`)
    : broken('a run', [error?.message ?? status, `rondo watch ${id}`]);

async function readTool(rondo: Rondo, id: string): Promise<Finding> {
  for await (const { result } of rondo.runs.toolCalls(id)) {
    if (result?.success && result.output.includes('doctor')) return ok('sandbox', 'a command ran');
    return broken('sandbox', [
      result?.error ?? result?.output ?? 'no result',
      'what isolation needs is in .data/logs/tool-executor.log',
    ]);
  }
  return warning('sandbox', ['no command was called', `rondo watch ${id}`]);
}

async function readProof(rondo: Rondo, id: string): Promise<Finding> {
  const { isProven, count } = await rondo.runs.verify(id);
  return isProven
    ? ok('log', `${count} facts, proven`)
    : broken('log', ['facts are missing or differ', `rondo verify ${id}`]);
}
