/** The model that is asked instead of the run's own, until then (ISO 8601). `times` counts the fallbacks in a row. */
export interface FallbackState {
  readonly model: string;
  readonly until: string;
  readonly times: number;
}

type Fallback = FallbackState | undefined;

export const fallenBack = (before: Fallback, { to, retry_at }: { to: string; retry_at: string }): Fallback => ({
  model: to,
  until: retry_at,
  times: (before?.times ?? 0) + 1,
});

/** A reply of any other model shows that the run's own model works again. */
export const fallbackAfterCall = (before: Fallback, call: { model: string; finish_reason: string }): Fallback =>
  before?.model === call.model || ['failed', 'broken', 'aborted'].includes(call.finish_reason) ? before : undefined;
