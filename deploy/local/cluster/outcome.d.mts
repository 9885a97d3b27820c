export interface ExaminedRun {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  readonly flaws: readonly string[];
  readonly doubled: number;
  readonly missing: number;
  readonly unclear: number;
  readonly restarted: number;
  readonly retried: number;
}

/** The figures of a load, and an error if a run was lost, failed, done twice or only in part. */
export function toOutcome(
  load: { runs: readonly ExaminedRun[]; requests: number; failures: readonly string[] },
  rule: { requestsMayFail: boolean },
): string;
