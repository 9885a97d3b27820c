import type { NewFact, RecordedFact } from '@rondo/contract';

/** What of a fact is compared. */
export interface ComparableFact {
  readonly type: string;
  readonly iteration: number;
  readonly data: unknown;
}

export const comparable = (fact: NewFact | RecordedFact): ComparableFact => ({
  type: fact.type,
  iteration: fact.iteration,
  data: without(fact.data, ignored[fact.type] ?? []),
});

/** Times and durations are those of the machine that wrote the fact; what was shown of a lost reply is in no fact; an effect class is its operator's; the store numbers messages. */
const ignored: Partial<Record<RecordedFact['type'], readonly string[]>> = {
  'usage.recorded': ['duration_ms', 'first_token_ms'],
  'iteration.restarted': ['withdrawn_stream_ids'],
  'message.created': ['seq', 'created_at'],
  'model.fell_back': ['retry_at'],
  'tool.started': ['store'],
  'tool.planned': ['effect_class'],
  'approval.requested': ['requested_at', 'expires_at'],
  'tool.input_requested': ['requested_at', 'expires_at'],
  'run.waiting': ['requested_at', 'expires_at'],
};

/** The data without these keys in it or in the objects right below it. */
function without(data: object, keys: readonly string[]): object {
  const kept = Object.entries(data).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, value]: [string, unknown]) => [key, withoutBelow(value, keys)]));
}

const withoutBelow = (value: unknown, keys: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutBelow(item, keys));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
};
