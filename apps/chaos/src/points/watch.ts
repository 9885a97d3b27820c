import { type Delta, type Fact, type RondoClient, isDelta } from '@rondo/test-deployment';
import type { EffectServer } from '../effects/effect-server';

type Seen = Fact | Delta;

/**
 * Eyes on one run: what a client sees of it live, and what the effect server sees. Everything is told from outside, so a
 * moment is known a few milliseconds after it was true.
 */
export class Watch {
  private readonly seen: Seen[] = [];
  private readonly waiting = new Set<() => void>();
  private socket: ReturnType<RondoClient['connect']> | undefined;

  constructor(
    private readonly client: RondoClient,
    private readonly effects: EffectServer,
    private readonly tag: string,
  ) {}

  /** From the moment that the run has an id. */
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

  /** The model has said so many characters of its first reply. */
  said(characters: number): Promise<void> {
    return this.until((seen) => {
      const text = seen.flatMap((event) => (event.type === 'message.delta' ? String(event.data.text) : []));
      return text.join('').length >= characters;
    });
  }

  /** A request of this run's first unsafe call was heard, took effect, or was answered. */
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
