import type { EvaluatedTask } from '@rondo/client';
import { plainText } from '@rondo/react';
import { Link } from '@tanstack/react-router';
import { cost, duration } from '../ui/amounts.ts';
import { Table } from '../ui/table.tsx';
import type { ComparedTask } from './tasks.ts';

const words: Record<EvaluatedTask['verdict'], string> = {
  right: 'right',
  wrong: 'wrong',
  unknown: 'no true answer',
  unjudged: 'not judged',
};

interface TaskTableProps {
  readonly tasks: readonly ComparedTask[];
  /** The name of the evaluation that they are compared with. */
  readonly other: string | undefined;
}

/** Tasks with their answers. Each leads to the run that answered it. */
export function TaskTable({ tasks, other }: TaskTableProps) {
  if (tasks.length === 0) return <p className="hint">No task belongs here.</p>;
  const columns = ['Task', 'Verdict', ...(other === undefined ? [] : [`In ${other}`]), 'Answer', 'Expected'];
  return (
    <Table label="Tasks" columns={[...columns, ['Cost', 'number'], ['Time', 'number']]}>
      {tasks.map(({ task, other: before }) => (
        <tr key={task.task_id}>
          <td>
            <RunOfTask task={task}>{plainText(task.task_id)}</RunOfTask>
          </td>
          <td>
            <Verdict task={task} />
          </td>
          {other !== undefined && <td>{before && <RunOfTask task={before}>{words[before.verdict]}</RunOfTask>}</td>}
          <td dir="auto" className="task-text">
            {task.error === null ? (
              plainText(task.prediction ?? '')
            ) : (
              <span className="problem">{plainText(task.error)}</span>
            )}
          </td>
          <td dir="auto" className="task-text">
            {plainText(task.expected ?? '')}
          </td>
          <td className="number">{task.cost_usd === null ? '' : cost(task.cost_usd)}</td>
          <td className="number">{task.duration_s === null ? '' : duration(task.duration_s * 1000)}</td>
        </tr>
      ))}
    </Table>
  );
}

const statuses: Record<EvaluatedTask['verdict'], string> = {
  right: 'completed',
  wrong: 'failed',
  unknown: 'stopped',
  unjudged: 'unfinished',
};

const Verdict = ({ task: { verdict } }: { readonly task: EvaluatedTask }) => (
  <span className={`status ${statuses[verdict]}`}>
    <i aria-hidden />
    {words[verdict]}
  </span>
);

interface RunOfTaskProps {
  readonly task: EvaluatedTask;
  readonly children: string;
}

const RunOfTask = ({ task, children }: RunOfTaskProps) =>
  task.run_id === null ? (
    children
  ) : (
    <Link to="/runs/$runId" params={{ runId: task.run_id }}>
      {children}
    </Link>
  );
