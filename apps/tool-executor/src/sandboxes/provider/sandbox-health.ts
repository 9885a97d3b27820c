import type { SandboxCapabilities, SandboxLog, SandboxProvider } from './sandbox-provider';
import { toMessage } from '@rondo/platform';

/** Whether this executor can create sandboxes, asked before it accepts a thread and whenever metrics are read. */
export class SandboxHealth {
  /** What sandboxes can do here, as they were asked last. */
  capabilities: SandboxCapabilities | undefined;

  constructor(
    private readonly sandboxes: Pick<SandboxProvider, 'probe' | 'freeDisk'>,
    private readonly log: SandboxLog,
  ) {}

  /** Why no thread can be taken, and what to do about it. Undefined when they can. */
  async problem(): Promise<string | undefined> {
    return (await this.unusable()) ?? (await this.sandboxes.freeDisk?.refusal());
  }

  /** Why no sandbox can be created at all. */
  async unusable(): Promise<string | undefined> {
    try {
      const { usable, reason, advice, capabilities } = await this.sandboxes.probe();
      this.capabilities = capabilities;
      return usable ? undefined : `${reason ?? 'No sandbox can be created.'} ${advice ?? ''}`.trim();
    } catch (error) {
      const reason = toMessage(error);
      this.log.warn({ usable: false, reason }, 'sandboxes unavailable');
      return reason;
    }
  }
}
