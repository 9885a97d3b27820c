import type { DeploymentHealth } from '@rondo/contract/api';

/** What is not as it should be is found in these. */
export type Found = Omit<DeploymentHealth, 'findings'>;

/** How long a job may wait to get into Redis before it is worth a word. */
const outboxMs = 15_000;

/** Of a process that gives no sign of life. A NATS server that hangs serves some connections and not others. */
export const silenceAdvice =
  'it is frozen, has died, or NATS does not serve it. Restart it. If that does not help, restart NATS.';

/** What is not as it should be, what follows from it, and what to do. */
export function findFaults(health: Found): string[] {
  return [...inServers(health), ...inProcesses(health), ...inExecutors(health)];
}

function inServers({ servers, outbox, at }: Found): string[] {
  const findings: string[] = [];
  if (!servers.postgres)
    findings.push('Postgres does not answer: nothing can be created, and only live text is shown.');
  if (!servers.redis) findings.push('Redis does not answer: runs are accepted, and begin when it is back.');
  if (!servers.nats) findings.push('NATS does not answer: text is not live, and calls of tools wait.');
  const oldest = outbox?.oldest_at;
  if (servers.redis && oldest != null && Date.parse(at) - Date.parse(oldest) > outboxMs)
    findings.push(
      `${outbox?.entries ?? 0} jobs are not in Redis yet, though it answers. See the logs of the gateways.`,
    );
  return findings;
}

const services = { runs: 'agent-worker', compactions: 'summarizer' } as const;

function inProcesses({ queues, workers, processes, at }: Found): string[] {
  const silent = (processes ?? []).filter(({ is_silent: isSilent }) => isSilent);
  const unattended = queues.flatMap(({ name, due, jobs }) => {
    const service = services[name as keyof typeof services];
    const waiting = due ? `, and ${due} ${due === 1 ? 'run waits' : 'runs wait'}` : '';
    if (jobs?.consumers === 0) return `No ${service} takes jobs from the queue “${name}”${waiting}: start one.`;
    const heard = processes?.filter((process) => process.service === service);
    return heard?.length === 0 ? `No ${service} gives a sign of life${waiting}: restart it, it is frozen.` : [];
  });
  const isAlone = (service: string) => !processes?.some((one) => one.service === service && !one.is_silent);
  const frozen = silent.map(
    ({ id, service, heard_at: heardAt }) =>
      `The ${service} ${id} has given no sign of life since ${heardAt}: ${silenceAdvice} ` +
      (isAlone(service) ? 'There is no other, so that everything waits.' : 'Another one takes over what it holds.'),
  );
  const late = (workers ?? []).flatMap(({ id, lease_expires_at: end }) =>
    Date.parse(end) < Date.parse(at) && !silent.some((process) => process.id === id)
      ? `The worker ${id} is silent. Another one takes over what it holds.`
      : [],
  );
  return [...unattended, ...frozen, ...late];
}

function inExecutors({ executors, servers }: Found): string[] {
  if (!executors || !servers.nats) return [];
  if (executors.length === 0)
    return [
      'No tool-executor was heard in the last seconds: tools do not run. Start one, or restart the one that is frozen.',
    ];
  const problems = executors.flatMap(({ id, problem }) => (problem === null ? [] : `${id} runs no tools: ${problem}`));
  const isFull = executors.every(({ is_open: isOpen }) => !isOpen);
  return isFull ? [...problems, 'No executor accepts further threads: add one, or more slots.'] : problems;
}
