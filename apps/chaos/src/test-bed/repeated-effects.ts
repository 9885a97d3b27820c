import type { Fact } from '@rondo/test-deployment';
import type { EffectLedger } from '../effects/effect-ledger';
import { callsWith, listPlannedEffects } from './planned-effects';

/** An effect that took place more than once, although it must not. */
export interface RepeatedEffect {
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
