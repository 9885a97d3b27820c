import type { ProblemCode } from '../problems/problems';
import { Refusal, tryAgainIn } from '../problems/refusals';

const retryAfterS = 1;

/** How much of something each holder may have at a time. */
export class ConcurrencyLimit {
  private readonly held = new Map<string, number>();

  constructor(
    private readonly most: number,
    private readonly refused: { readonly code: ProblemCode; readonly detail: string },
  ) {}

  isFull(holder: string): boolean {
    return (this.held.get(holder) ?? 0) >= this.most;
  }

  /** Returns what gives it back; to call that twice does no harm. */
  take(holder: string, amount = 1): () => void {
    const held = this.held.get(holder) ?? 0;
    if (held + amount > this.most) {
      throw new Refusal(this.refused.code, this.refused.detail, tryAgainIn(retryAfterS));
    }
    this.held.set(holder, held + amount);
    let isHeld = true;
    return () => {
      if (isHeld) this.giveBack(holder, amount);
      isHeld = false;
    };
  }

  private giveBack(holder: string, amount: number): void {
    const left = (this.held.get(holder) ?? 0) - amount;
    if (left > 0) this.held.set(holder, left);
    else this.held.delete(holder);
  }
}
