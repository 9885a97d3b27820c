import type { DeploymentHealth } from '@rondo/client';

/** How long a job may wait to get into Redis before it is worth a word. */
const outboxMs = 15_000;

/** What is not as it should be, what follows from it, and what to do. */
export function findingsOf(health: DeploymentHealth): string[] {
  return [...ofServers(health), ...ofQueues(health), ...ofExecutors(health)];
}

function ofServers({ servers, outbox, at }: DeploymentHealth): string[] {
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

const services: Readonly<Record<string, string>> = { runs: 'agent-worker', compactions: 'summarizer' };

function ofQueues({ queues, workers, at }: DeploymentHealth): string[] {
  const unattended = queues.flatMap(({ name, due, jobs }) =>
    jobs?.consumers === 0
      ? `No ${services[name] ?? 'worker'} takes jobs from the queue “${name}”${due ? `, and ${due} wait` : ''}: start one.`
      : [],
  );
  const silent = (workers ?? []).flatMap(({ id, lease_expires_at: end }) =>
    Date.parse(end) < Date.parse(at) ? `The worker ${id} is silent. Another one takes over what it holds.` : [],
  );
  return [...unattended, ...silent];
}

function ofExecutors({ executors, servers }: DeploymentHealth): string[] {
  if (!executors || !servers.nats) return [];
  if (executors.length === 0) return ['No tool-executor was heard in the last seconds: tools do not run. Start one.'];
  const problems = executors.flatMap(({ id, problem }) => (problem === null ? [] : `${id} runs no tools: ${problem}`));
  const isFull = executors.every(({ is_open: isOpen }) => !isOpen);
  return isFull ? [...problems, 'No executor accepts further threads: add one, or more slots.'] : problems;
}
