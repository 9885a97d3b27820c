import { type Run, factTypes, runSettings } from '@rondo/contract';
import type { z } from 'zod';

const knownTypes: ReadonlySet<string> = new Set(factTypes);

/**
 * What a newer version wrote of this run and this version does not know: types of facts, and settings. Empty for a run
 * that it can continue; a holder that ignored the rest might, for example, send a call that needs an approval.
 */
export function unknownParts(run: Pick<Run, 'settings'>, log: readonly { readonly type: string }[]): readonly string[] {
  const facts = log.filter(({ type }) => !knownTypes.has(type)).map(({ type }) => `fact ${type}`);
  const { error } = runSettings.safeParse(run.settings, { reportInput: true });
  return [...new Set([...facts, ...unknownSettings(error?.issues ?? [])])];
}

/** Other issues are those of settings that an older version accepted. */
function unknownSettings(issues: readonly z.core.$ZodIssue[], above: readonly PropertyKey[] = []): string[] {
  return issues.flatMap((issue): string[] => {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => nameSetting([...path, key]));
    if (issue.code === 'invalid_value') return issue.input === undefined ? [] : [nameSetting(path)]; // an older version did not write it
    if (issue.code !== 'invalid_union') return [];
    const cases = issue.errors.map((some) => unknownSettings(some, path));
    return cases.length === 0 ? [nameSetting(path)] : closest(cases);
  });
}

/** A value is unknown if no case of a union knows it. */
const closest = (cases: readonly (readonly string[])[]): string[] =>
  cases.some((unknown) => unknown.length === 0) ? [] : [...(cases[0] ?? [])];

const nameSetting = (path: readonly PropertyKey[]): string => `setting ${path.map(String).join('.')}`;
