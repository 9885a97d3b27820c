import type { Delta } from '@rondo/domain';

/**
 * Joins small deltas into frames, so that watchers see the first piece at once and then a steady flow instead of a
 * packet per token (R24). Order is kept across streams.
 */
export class DeltaFrames {
  private pending: Delta[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly send: (delta: Delta) => void,
    private readonly frameMs: number,
  ) {}

  push(delta: Delta): void {
    const last = this.pending.at(-1);
    if (last && continues(last, delta))
      this.pending[this.pending.length - 1] = { ...last, text: last.text + delta.text };
    else this.pending.push(delta);

    if (!this.timer) this.sendFrame();
  }

  /** Sends what is pending now: facts must not overtake the deltas before them. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const frame = this.pending;
    this.pending = [];
    frame.forEach(this.send);
  }

  private sendFrame(): void {
    this.flush();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.pending.length > 0) this.sendFrame();
    }, this.frameMs);
  }
}

const continues = (last: Delta, next: Delta): boolean =>
  last.streamId === next.streamId && last.type === next.type && last.channel === next.channel;
