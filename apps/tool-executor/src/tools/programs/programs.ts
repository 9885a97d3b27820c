import type { ProgramAnswer } from '@rondo/contract';
import { type ProgramPlace, type ProgramSource, type ProgramStep, RunningProgram } from './running-program';

/** For so long a program waits in its sandbox for its calls. After that it is run again, from its start. */
const waitsMs = 60_000;
const mostWaiting = 64;

interface Continuing extends ProgramPlace {
  readonly program: ProgramSource;
  readonly answers: readonly ProgramAnswer[];
  readonly signal: AbortSignal;
}

/** The programs that wait for their calls in the sandboxes of this executor. */
export class Programs {
  private readonly waiting = new Map<string, { readonly program: RunningProgram; readonly timer: NodeJS.Timeout }>();

  /** A program that waits goes on; any other is run from its start, and gets the answers that it has had. */
  async advance({ program: source, answers, signal, ...place }: Continuing): Promise<ProgramStep> {
    const program = (await this.take(place)) ?? (await RunningProgram.start(place, source));
    try {
      const step = await program.advance(answers, signal);
      if (step.how === 'calls') this.keep(place.callId, program);
      else if (step.how === 'broken') await program.end();
      return step;
    } catch (error) {
      await program.end();
      throw error;
    }
  }

  private async take({ callId, attempt }: ProgramPlace): Promise<RunningProgram | undefined> {
    const kept = this.waiting.get(callId);
    clearTimeout(kept?.timer);
    this.waiting.delete(callId);
    return attempt > 1 && (await kept?.program.isWaiting()) ? kept?.program : undefined;
  }

  private keep(callId: string, program: RunningProgram): void {
    const timer = setTimeout(() => this.drop(callId), waitsMs).unref();
    this.waiting.set(callId, { program, timer });
    const [oldest] = this.waiting.keys();
    if (oldest !== undefined && this.waiting.size > mostWaiting) this.drop(oldest);
  }

  private drop(callId: string): void {
    const kept = this.waiting.get(callId);
    clearTimeout(kept?.timer);
    this.waiting.delete(callId);
    kept?.program.end().catch(() => undefined); // it died with its sandbox
  }
}
