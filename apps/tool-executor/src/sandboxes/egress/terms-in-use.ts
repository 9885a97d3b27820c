import { isDeepStrictEqual } from 'node:util';
import type { SandboxTerms } from '@rondo/contract';
import { KeyedMutex } from '@rondo/platform';
import { SandboxError } from '../provider/sandbox-error';
import type { ReportStep, SandboxProvider } from '../provider/sandbox-provider';

type Sandboxes = Pick<SandboxProvider, 'name' | 'probe' | 'toEgress' | 'putToSleep' | 'findShape' | 'reshape'>;

/**
 * What runs ask of the sandboxes that their calls use. The terms of a sandbox change only while no call uses it, and then its
 * processes are ended first: none lives on under other terms than those it was started with.
 */
export class TermsInUse {
  private readonly turns = new KeyedMutex();
  private readonly calls = new Map<string, number>();

  constructor(private readonly sandboxes: Sandboxes) {}

  /** Resolves to what ends the use. Rejects with SandboxError where the terms cannot be kept, or where others are in use. */
  hold(threadId: string, { egress, ...shape }: SandboxTerms = {}, report?: ReportStep): Promise<() => void> {
    return this.turns.run(threadId, async () => {
      const isKept = isDeepStrictEqual(this.sandboxes.findShape(threadId) ?? {}, shape);
      if (!isKept || !isSame(this.sandboxes.toEgress(threadId).listed, egress)) {
        if (this.calls.has(threadId))
          throw new SandboxError(
            'unavailable',
            'Not executed: another run uses the sandbox of this workspace, and has it otherwise. Try again later.',
          );
        if (egress && !(await this.sandboxes.probe()).capabilities.egressPolicy)
          throw new SandboxError(
            'unsupported',
            `Not executed: the environment of the run names \`egress\`, and the network of sandboxes here cannot be limited to it: their provider is ${this.sandboxes.name}, or they are not isolated.`,
          );
        if (!isKept) await this.sandboxes.reshape(threadId, shape, report);
        await this.sandboxes.putToSleep(threadId);
        this.sandboxes.toEgress(threadId).limitTo(egress);
      }
      this.calls.set(threadId, (this.calls.get(threadId) ?? 0) + 1);
      return () => this.release(threadId);
    });
  }

  private release(threadId: string): void {
    const calls = (this.calls.get(threadId) ?? 0) - 1;
    if (calls > 0) this.calls.set(threadId, calls);
    else this.calls.delete(threadId);
  }
}

const isSame = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  JSON.stringify(one && [...one].sort()) === JSON.stringify(other && [...other].sort());
