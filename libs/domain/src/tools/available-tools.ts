import { memoize } from '../memoize';
import type { ToolDefinition } from './define-tool';

/** What executors lack, by need, with the reason for an operator. */
export type LackedNeeds = Readonly<Record<string, string>>;

/** Fields of the environment of a run that sandboxes may not honour. Executors announce each as `environment.` and its name. */
export const environmentNeeds = ['egress', 'size', 'image', 'packages', 'repository.secret'] as const;

/** Why a tool cannot be used where executors lack something. Undefined: it can. */
export const whyUnavailable = ({ needs }: ToolDefinition, lacked: LackedNeeds): string | undefined =>
  needs === undefined ? undefined : lacked[needs];

const listNeeds = memoize((catalog: readonly ToolDefinition[]) => [
  ...new Set(catalog.flatMap(({ needs }) => needs ?? [])),
]);
const listChoices = memoize((_: readonly ToolDefinition[]) => new Map<string, readonly ToolDefinition[]>());

/** Those of a catalog that can be used. It returns the same array for the same needs, since what prompts need is derived from it once. */
export function availableTools(catalog: readonly ToolDefinition[], lacked: LackedNeeds): readonly ToolDefinition[] {
  const key = listNeeds(catalog)
    .filter((need) => lacked[need] !== undefined)
    .join(' ');
  if (key === '') return catalog;
  const choices = listChoices(catalog);
  const known = choices.get(key) ?? catalog.filter((tool) => whyUnavailable(tool, lacked) === undefined);
  choices.set(key, known);
  return known;
}
