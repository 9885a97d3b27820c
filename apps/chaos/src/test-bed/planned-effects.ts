import type { Fact } from '@rondo/test-deployment';
import type { EffectLedger } from '../effects/effect-ledger';

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

/** An effect that took place more than once, although it must not. */
interface RepeatedEffect {
  readonly tag: string;
  readonly times: number;
  /** The calls that asked for it and were sent, by the logs of the runs. */
  readonly calls: readonly string[];
  /** The idempotency keys that its requests had. */
  readonly keys: readonly string[];
}

/** Only effects with these tags must be applied once; others repeat on purpose. */
const isSingle = (tag: string): boolean => /\/(unsafe|keyed)$/.test(tag);

export function listRepeated(facts: readonly Fact[], ledger: EffectLedger): RepeatedEffect[] {
  const sent = callsWith(facts, 'tool.started');
  const asked = listPlannedEffects(facts).filter(({ callId }) => sent.has(callId));
  return [...ledger.countEffects()]
    .filter(([tag, times]) => times > 1 && isSingle(tag))
    .map(([tag, times]) => ({
      tag,
      times,
      calls: distinct(asked.filter((effect) => effect.tag === tag).map(({ callId }) => callId)),
      keys: distinct(ledger.requests.filter((request) => request.tag === tag).flatMap(({ key }) => key ?? [])),
    }));
}

/** A call had its effect twice. Otherwise each time was another call: the model asked for it again. */
export const isOfOneCall = ({ times, calls }: RepeatedEffect): boolean => times > calls.length;

export function describeRepeated(effect: RepeatedEffect): string {
  const { tag, times, calls, keys } = effect;
  const cause = isOfOneCall(effect) ? 'a call was repeated' : 'the model asked for it again';
  return `${tag} took effect ${times} times: ${cause} (calls: ${calls.join(', ')}; keys: ${keys.join(', ') || 'none'})`;
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];
