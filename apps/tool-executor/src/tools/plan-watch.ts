import { type PlanProgress, planIn } from '@rondo/contract';
import { type Sandbox, SandboxError } from '../sandboxes';

const planFile = 'todo.md';
const readBytes = 64 * 1024;
const rememberedThreads = 1_000;

/**
 * Notices changes of todo.md, whatever made them: after a call, the file's time and size are compared with those that were
 * seen last in the thread. Only this process remembers them; another one reports the plan once more, which does no harm.
 */
export class PlanWatch {
  private readonly seen = new Map<string, string>();

  /** The plan if it has changed. Never rejects: the call is answered without it. */
  async changeIn(thread: string, { files }: Sandbox): Promise<PlanProgress | undefined> {
    try {
      const status = await files.stat(planFile);
      const version = status?.kind === 'file' ? `${status.modifiedAt} ${status.size}` : undefined;
      if (version === undefined || version === this.seen.get(thread)) return undefined;
      const { content } = await files.read(planFile, { offset: 0, length: readBytes });
      this.remember(thread, version);
      return planIn(content.toString('utf8'));
    } catch (error) {
      if (error instanceof SandboxError) return undefined;
      throw error;
    }
  }

  private remember(thread: string, version: string): void {
    this.seen.delete(thread);
    this.seen.set(thread, version);
    const [oldest] = this.seen.keys();
    if (this.seen.size > rememberedThreads && oldest !== undefined) this.seen.delete(oldest);
  }
}
