import type { EvaluatedTask } from '@rondo/client';

/** A task, and how another evaluation has answered it. */
export interface ComparedTask {
  readonly task: EvaluatedTask;
  readonly other: EvaluatedTask | undefined;
}

export const taskGroups = ['wrong', 'failed', 'gained', 'lost'] as const;
export type TaskGroup = (typeof taskGroups)[number];

const isScored = (task: EvaluatedTask | undefined): task is EvaluatedTask =>
  task?.verdict === 'right' || task?.verdict === 'wrong';

const belongs: Record<TaskGroup, (compared: ComparedTask) => boolean> = {
  wrong: ({ task }) => task.verdict === 'wrong',
  failed: ({ task }) => task.error !== null,
  gained: ({ task, other }) => task.verdict === 'right' && other?.verdict === 'wrong',
  lost: ({ task, other }) => task.verdict === 'wrong' && other?.verdict === 'right',
};

/** The tasks of an evaluation, each with what the other one has found of it. */
export function pairTasks(tasks: readonly EvaluatedTask[], others: readonly EvaluatedTask[]): readonly ComparedTask[] {
  const byId = new Map(others.map((other) => [other.task_id, other]));
  return tasks.map((task) => ({ task, other: byId.get(task.task_id) }));
}

export const selectTasks = (tasks: readonly ComparedTask[], group: TaskGroup | undefined): readonly ComparedTask[] =>
  group === undefined ? tasks : tasks.filter(belongs[group]);

/** `3 gained and 1 lost of the 55 tasks that both have scored.` */
export function compareInWords(tasks: readonly ComparedTask[]): string {
  const both = tasks.filter(({ task, other }) => isScored(task) && isScored(other));
  const [gained, lost] = [selectTasks(both, 'gained').length, selectTasks(both, 'lost').length];
  return `${gained} gained and ${lost} lost of the ${both.length} tasks that both have scored.`;
}
