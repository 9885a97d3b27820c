import type { DeploymentHealth } from '@rondo/client';
import { between, count, duration } from '../ui/amounts.ts';
import { Table } from '../ui/table.tsx';

const unknown = '–';

export function QueueTable({ queues }: Pick<DeploymentHealth, 'queues'>) {
  return (
    <Table
      label="Queues"
      columns={[
        'Queue',
        ['Due', 'number'],
        ['Waiting', 'number'],
        ['Active', 'number'],
        ['Delayed', 'number'],
        ['Consumers', 'number'],
      ]}
    >
      {queues.map(({ name, due, jobs }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          {[due, jobs?.waiting, jobs?.active, jobs?.delayed, jobs?.consumers].map((value, index) => (
            <td key={index} className="number">
              {value == null ? unknown : count(value)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

interface RunHolder {
  readonly id: string;
  readonly sign: NonNullable<DeploymentHealth['processes']>[number] | undefined;
  readonly held: NonNullable<DeploymentHealth['workers']>[number] | undefined;
}

/** Those that gave a sign of life, and those that hold runs: each process once. */
function listRunHolders({ processes, workers }: DeploymentHealth): RunHolder[] {
  const ids = new Set([...(processes ?? []), ...(workers ?? [])].map(({ id }) => id));
  return [...ids].sort().map((id) => ({
    id,
    sign: processes?.find((process) => process.id === id),
    held: workers?.find((worker) => worker.id === id),
  }));
}

export function WorkerTable({ health }: { readonly health: DeploymentHealth }) {
  const { processes, workers, at } = health;
  if (!processes && !workers) return <p className="hint">Not known: NATS and Postgres do not answer.</p>;
  const holders = listRunHolders(health);
  if (holders.length === 0) return <p className="hint">None has reported in the last minute. Is one running?</p>;
  return (
    <Table label="Workers" columns={['Process', 'State', ['Runs', 'number'], ['Next lease ends', 'number']]}>
      {holders.map(({ id, sign, held }) => (
        <tr key={id}>
          <th scope="row">
            <code className="id">{id}</code>
          </th>
          <td>{sign ? wordSign(sign, at) : unknown}</td>
          <td className="number">{workers ? count(held?.runs ?? 0) : unknown}</td>
          <td className="number">{held ? wordLease(held.lease_expires_at, at) : unknown}</td>
        </tr>
      ))}
    </Table>
  );
}

const wordSign = ({ is_silent: isSilent, heard_at: heardAt }: NonNullable<RunHolder['sign']>, at: string): string =>
  isSilent ? `silent for ${duration(between(heardAt, at))}` : 'alive';

const wordLease = (end: string, at: string): string =>
  Date.parse(end) < Date.parse(at) ? 'has ended' : `in ${duration(between(at, end))}, if not renewed`;

export function ExecutorTable({ executors }: Pick<DeploymentHealth, 'executors'>) {
  if (!executors) return <p className="hint">Not known: NATS does not answer.</p>;
  if (executors.length === 0) return <p className="hint">None has reported in the last seconds. Is one running?</p>;
  return (
    <>
      <Table
        label="Executors"
        columns={['Executor', 'State', 'Provider', ['Calls', 'number'], ['Awake sandboxes', 'number'], 'Not set up']}
      >
        {executors.map((executor) => (
          <ExecutorRow key={executor.id} executor={executor} />
        ))}
      </Table>
      <ul className="hint">
        {listReasons(executors).map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </>
  );
}

type Executors = NonNullable<DeploymentHealth['executors']>;

/** What to set for what is not set up: once, though several executors lack it. */
const listReasons = (executors: Executors): readonly string[] => [
  ...new Set(executors.flatMap(({ lacks }) => Object.values(lacks).map(toSentence))),
];

/** Some of them also stand after the name of a field, where they are refused. */
const toSentence = (reason: string): string =>
  `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${reason.endsWith('.') ? '' : '.'}`;

function ExecutorRow({ executor }: { readonly executor: Executors[number] }) {
  const { id, is_open: isOpen, provider, load, lacks, problem } = executor;
  const needs = Object.keys(lacks);
  return (
    <tr>
      <th scope="row">
        <code className="id">{id}</code>
      </th>
      <td>{problem === null ? (isOpen ? 'open' : 'full') : 'runs no tools'}</td>
      <td>{provider ?? unknown}</td>
      <td className="number">
        {load
          ? `${load.calls.running} of ${load.calls.slots}${load.calls.waiting > 0 ? `, ${load.calls.waiting} wait` : ''}`
          : unknown}
      </td>
      <td className="number">{load ? `${load.sandboxes.awake} of ${load.sandboxes.max}` : unknown}</td>
      <td>
        {needs.length === 0
          ? 'nothing'
          : needs.map((need) => (
              <span key={need} className="lack">
                {need.replaceAll('_', ' ')}
              </span>
            ))}
      </td>
    </tr>
  );
}
