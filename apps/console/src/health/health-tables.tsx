import type { DeploymentHealth } from '@rondo/client';
import type { ReactNode } from 'react';
import { between, count, duration } from '../ui/amounts.ts';

interface TableProps {
  readonly label: string;
  /** Names of columns; those with a number are to the right. */
  readonly columns: readonly (readonly [name: string, isNumber?: boolean])[];
  readonly children: ReactNode;
}

function Table({ label, columns, children }: TableProps) {
  return (
    <div className="table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(([name, isNumber]) => (
              <th key={name} scope="col" className={isNumber === true ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

const unknown = '–';

export function QueueTable({ queues }: Pick<DeploymentHealth, 'queues'>) {
  return (
    <Table
      label="Queues"
      columns={[['Queue'], ['Due', true], ['Waiting', true], ['Active', true], ['Delayed', true], ['Consumers', true]]}
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

export function WorkerTable({ workers, at }: Pick<DeploymentHealth, 'workers' | 'at'>) {
  if (!workers) return <p className="hint">Postgres does not say.</p>;
  if (workers.length === 0) return <p className="hint">No run is under way.</p>;
  return (
    <Table label="Workers" columns={[['Worker'], ['Runs', true], ['Its first lease ends', true]]}>
      {workers.map(({ id, runs, lease_expires_at: end }) => (
        <tr key={id}>
          <th scope="row">
            <code className="id">{id}</code>
          </th>
          <td className="number">{count(runs)}</td>
          <td className="number">
            {Date.parse(end) < Date.parse(at) ? 'has ended' : `in ${duration(between(at, end))}, if not renewed`}
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function ExecutorTable({ executors }: Pick<DeploymentHealth, 'executors'>) {
  if (!executors) return <p className="hint">NATS does not say.</p>;
  if (executors.length === 0) return <p className="hint">None was heard in the last seconds.</p>;
  return (
    <Table
      label="Executors"
      columns={[['Executor'], ['State'], ['Provider'], ['Calls', true], ['Awake sandboxes', true], ['Lacks']]}
    >
      {executors.map((executor) => (
        <ExecutorRow key={executor.id} executor={executor} />
      ))}
    </Table>
  );
}

function ExecutorRow({ executor }: { readonly executor: NonNullable<DeploymentHealth['executors']>[number] }) {
  const { id, is_open: isOpen, provider, load, lacks, problem } = executor;
  const needs = Object.entries(lacks);
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
          : needs.map(([need, reason]) => (
              <span key={need} className="lack" title={reason}>
                {need}
              </span>
            ))}
      </td>
    </tr>
  );
}
