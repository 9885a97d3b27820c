/** Lets `perSecond` pass in the long run, and `burst` at once after a quiet time. */
export class TokenBucket {
  private tokens: number;
  private filledAt: number;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.tokens = burst;
    this.filledAt = now();
  }

  /** False when there is none left. */
  take(): boolean {
    const now = this.now();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) / 1_000) * this.perSecond);
    this.filledAt = now;
    if (this.tokens < 1) return false;

    this.tokens -= 1;
    return true;
  }

  /** In how many seconds there is one, after `take` found none. */
  get waitS(): number {
    return (1 - this.tokens) / this.perSecond;
  }
}
