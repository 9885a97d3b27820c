export interface ScalingRule {
  readonly min: number;
  readonly max: number;
  /** Runs that one worker is to serve. */
  readonly target: number;
  /** A worker is removed when none of the numbers of so long asked for it. */
  readonly stabilizationMs: number;
  /** At most one worker is removed in so long. */
  readonly removalMs: number;
}

interface Wish {
  readonly atMs: number;
  readonly workers: number;
}

/**
 * How many workers a HorizontalPodAutoscaler wants that reads the runs to serve: at once more, later less, as in
 * `rondo.scalingBehavior` of the Helm chart. Source: Kubernetes, "Horizontal Pod Autoscaling", algorithm details.
 */
export class Autoscaler {
  private wishes: readonly Wish[] = [];
  private removedAtMs = -Infinity;

  constructor(private readonly rule: ScalingRule) {}

  /** The number of workers from now on. */
  decide({ atMs, toServe, workers }: { atMs: number; toServe: number; workers: number }): number {
    const { min, max, target, stabilizationMs, removalMs } = this.rule;
    const wanted = Math.min(max, Math.max(min, Math.ceil(toServe / target)));
    this.wishes = [...this.wishes, { atMs, workers: wanted }].filter((wish) => wish.atMs > atMs - stabilizationMs);
    if (wanted >= workers) return wanted;

    const most = Math.max(...this.wishes.map((wish) => wish.workers));
    if (most >= workers || atMs - this.removedAtMs < removalMs) return workers;
    this.removedAtMs = atMs;
    return workers - 1;
  }
}
