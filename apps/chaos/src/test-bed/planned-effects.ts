import type { Fact } from '@rondo/test-deployment';

export interface PlannedEffect {
  readonly callId: string;
  readonly tag: string;
  readonly behaviour: string;
}

/** The effect that a call with these arguments has; undefined for other calls. */
export function findEffect(callArguments: unknown): Omit<PlannedEffect, 'callId'> | undefined {
  const [, behaviour, tag] = /\/(?:un)?keyed\/(\w+)\/([\w/-]+)/.exec(JSON.stringify(callArguments)) ?? [];
  return behaviour === undefined || tag === undefined ? undefined : { tag, behaviour };
}

/** The effects that a run planned, by its log. What it asks of a child run is planned by that one. */
export const listPlannedEffects = (facts: readonly Fact[]): PlannedEffect[] =>
  facts
    .filter(({ type }) => type === 'tool.planned')
    .map(({ data }) => data.tool_call as { id: string; name: string; arguments: unknown })
    .filter(({ name }) => name !== 'run_agent')
    .flatMap(({ id, arguments: asked }) => {
      const effect = findEffect(asked);
      return effect ? [{ callId: id, ...effect }] : [];
    });

/** The ids of calls that have a fact of this type. */
export const callsWith = (facts: readonly Fact[], type: string): Set<string> =>
  new Set(facts.filter((fact) => fact.type === type).map(({ data }) => String(data.tool_call_id)));
