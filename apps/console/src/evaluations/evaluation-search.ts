import { type TaskGroup, taskGroups } from './tasks.ts';

/** The evaluation that it is compared with, and which tasks are shown. */
export const readEvaluationSearch = ({
  other,
  show,
}: Record<string, unknown>): { other?: string; show?: TaskGroup } => ({
  ...(typeof other === 'string' && other !== '' && { other }),
  ...(isGroup(show) && { show }),
});

const isGroup = (value: unknown): value is TaskGroup => taskGroups.some((group) => group === value);
