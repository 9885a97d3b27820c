import { type Delta, type Fact, type RondoClient, isDelta } from '@rondo/test-deployment';
import type { CountingEffectServer } from '../effects/counting-effect-server';

type Seen = Fact | Delta;

/**
 * Observes one run from outside, by its live events and by the requests that the effect server receives; so each moment is
 * known a few milliseconds late.
 */
export class RunObserver {
  private readonly seen: Seen[] = [];
  private readonly waiting = new Set<() => void>();
  private socket: ReturnType<RondoClient['connect']> | undefined;

  constructor(
    private readonly client: RondoClient,
    private readonly effects: CountingEffectServer,
    private readonly tag: string,
  ) {}

  /** Subscribes to the run. */
  follow(runId: string): void {
    this.socket = this.client.connect();
    this.socket.on('event', (event: Seen) => {
      this.seen.push(event);
      this.waiting.forEach((look) => look());
    });
    this.socket.emit('run.subscribe', { run_id: runId, after_seq: 0 }); // it may be closed before an answer comes
  }

  fact(type: string): Promise<void> {
    return this.until((seen) => seen.some((event) => !isDelta(event) && event.type === type));
  }

  delta(type: string): Promise<void> {
    return this.until((seen) => seen.some((event) => event.type === type));
  }

  /** Resolves when this many characters of text have arrived. */
  textReached(characters: number): Promise<void> {
    return this.until((seen) => {
      const text = seen.flatMap((event) => (event.type === 'message.delta' ? String(event.data.text) : []));
      return text.join('').length >= characters;
    });
  }

  /** Resolves when the effect server has received, applied or answered the run's first unsafe call. */
  effect(moment: 'arrived' | 'applied' | 'replied'): Promise<void> {
    const wanted = `${this.tag}/1/unsafe`;
    return new Promise((resolve) => {
      const listener = (about: string | { tag: string }) => {
        if ((typeof about === 'string' ? about : about.tag) !== wanted) return;
        this.effects.off(moment, listener);
        resolve();
      };
      this.effects.on(moment, listener);
    });
  }

  close(): void {
    this.socket?.close();
  }

  private until(isTrue: (seen: readonly Seen[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue(this.seen)) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }
}
