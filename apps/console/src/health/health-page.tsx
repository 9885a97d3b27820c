import type { DeploymentHealth } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { gatewayUrl } from '../gateway-url.ts';
import { useRondo } from '../session/use-session.ts';
import { count } from '../ui/amounts.ts';
import { Figure } from '../ui/figure.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { ExecutorTable, QueueTable, WorkerTable } from './health-tables.tsx';

/** What the whole deployment does, for those who operate it. */
export function HealthPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => rondo.deploymentHealth({ signal }),
    refetchInterval: 2_000,
    retry: false,
  });
  return (
    <>
      <div className="page-head">
        <h1>Health</h1>
        <a href={`${gatewayUrl()}/admin/queues`}>Queue board</a>
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="the deployment" />}
      {data && <Report health={data} />}
    </>
  );
}

function Report({ health }: { readonly health: DeploymentHealth }) {
  const { servers, gateway, runs, queues, executors, outbox } = health;
  return (
    <>
      <Findings health={health} />
      <ul className="servers" aria-label="Servers">
        <Server name="Postgres" answers={servers.postgres} />
        <Server name="Redis" answers={servers.redis} />
        <Server name="NATS" answers={servers.nats} />
      </ul>
      <dl className="figures">
        {Object.entries(runs ?? {}).map(([status, number]) => (
          <Figure key={status} name={toWord(status)} value={count(number)} />
        ))}
        <Figure name="Jobs not delivered yet" value={count(outbox?.entries ?? 0)} />
        <Figure name="Connections of this gateway" value={count(gateway.connections)} />
        <Figure name="Runs watched here" value={count(gateway.watched_runs)} />
      </dl>
      <section className="section">
        <h2>Queues</h2>
        <QueueTable queues={queues} />
      </section>
      <section className="section">
        <h2>Workers and summarizers</h2>
        <WorkerTable health={health} />
      </section>
      <section className="section">
        <h2>Executors</h2>
        <ExecutorTable executors={executors} />
      </section>
    </>
  );
}

/** A newer gateway may have statuses that this page does not know. */
const toWord = (status: string): string => `Runs: ${runWords[status] ?? status}`;

const runWords: Readonly<Record<string, string>> = {
  queued: 'queued',
  running: 'at work',
  stopping: 'stopping',
  waiting_input: 'waiting for a person',
  waiting_budget: 'waiting for budget',
  waiting_child: 'waiting for other runs',
  waiting_tool: 'waiting for their caller',
};

function Findings({ health }: { readonly health: DeploymentHealth }) {
  const { findings = [] } = health;
  return (
    <div className={findings.length === 0 ? 'findings fine' : 'findings'} role="status">
      {findings.length === 0 && <p>Everything answers, and nothing waits without a reason.</p>}
      {findings.map((finding) => (
        <p key={finding}>{finding}</p>
      ))}
    </div>
  );
}

function Server({ name, answers }: { readonly name: string; readonly answers: boolean }) {
  return (
    <li className={`status ${answers ? 'completed' : 'failed'}`}>
      <i aria-hidden="true" />
      {name} {answers ? 'answers' : 'is silent'}
    </li>
  );
}
