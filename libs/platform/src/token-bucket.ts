/** A token bucket: `perSecond` on average, and bursts of up to `burst` after a pause. */
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

  /** False when no token is left. */
  take(): boolean {
    const now = this.now();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) / 1_000) * this.perSecond);
    this.filledAt = now;
    if (this.tokens < 1) return false;

    this.tokens -= 1;
    return true;
  }

  /** Takes back a `take` that was for nothing. */
  giveBack(): void {
    this.tokens = Math.min(this.burst, this.tokens + 1);
  }

  /** Seconds until the next token, after `take` returned false. */
  get waitS(): number {
    return (1 - this.tokens) / this.perSecond;
  }
}
