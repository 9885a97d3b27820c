import type { Delta } from '@rondo/contract';

/**
 * Joins small deltas into frames: subscribers get the first piece at once and then a frame per interval, since a packet per
 * token would cost more than the tokens. The order across streams is kept.
 */
export class DeltaFrames {
  private pending: Delta[] = [];
  private timer: NodeJS.Timeout | undefined;
  private sentAtMs = -Infinity;

  constructor(
    private readonly send: (delta: Delta) => void,
    private readonly frameMs: number,
  ) {}

  push(delta: Delta): void {
    const last = this.pending.at(-1);
    if (last && continues(last, delta))
      this.pending[this.pending.length - 1] = { ...last, text: last.text + delta.text };
    else this.pending.push(delta);

    if (!this.timer) this.sendInTime();
  }

  /** Sends what is pending now: facts must not overtake the deltas before them. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sentAtMs = -Infinity;
    const frame = this.pending;
    this.pending = [];
    frame.forEach(this.send);
  }

  /** There is a timer only where something waits: most models leave more than a frame between two tokens. */
  private sendInTime(): void {
    const waitMs = this.sentAtMs + this.frameMs - performance.now();
    if (waitMs > 0) this.timer = setTimeout(() => this.sendFrame(), waitMs);
    else this.sendFrame();
  }

  private sendFrame(): void {
    this.flush();
    this.sentAtMs = performance.now();
  }
}

const continues = (last: Delta, next: Delta): boolean =>
  last.streamId === next.streamId && last.type === next.type && last.channel === next.channel;
