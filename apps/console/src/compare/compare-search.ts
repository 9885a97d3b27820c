/** The two runs. */
export interface CompareSearch {
  readonly a?: string;
  readonly b?: string;
}

const runId = /^run_[0-9A-Z]+$/;

export function readCompareSearch({ a, b }: Record<string, unknown>): CompareSearch {
  return {
    ...(typeof a === 'string' && runId.test(a) && { a }),
    ...(typeof b === 'string' && runId.test(b) && { b }),
  };
}
