import type { Fact } from './generated/api.ts';

export type FactWithType<Type extends Fact['type']> = Extract<Fact, { type: Type }>;

/** One function for each type of fact that matters. Others, and types that this client does not know, are not listed. */
export type FactTable<Result> = {
  readonly [Type in Fact['type']]?: (fact: FactWithType<Type>) => Result;
};

export function lookUp<Result>(table: FactTable<Result>, fact: Fact): Result | undefined {
  const entry = table[fact.type] as ((fact: Fact) => Result) | undefined; // the key and the parameter have the same type
  return entry?.(fact);
}
