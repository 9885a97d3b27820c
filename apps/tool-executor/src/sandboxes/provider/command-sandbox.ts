import type { Duplex } from 'node:stream';
import type {
  CommandListeners,
  CommandOutcome,
  CommandRequest,
  ProcessView,
  Sandbox,
  SandboxFiles,
  Termination,
} from './sandbox';
import type { AwakeSandbox } from './sandbox-provider';
import type { SandboxCommands } from './sandbox-commands';

/** A sandbox whose commands are kept by `SandboxCommands`. What is left to a provider is how they are launched and killed. */
export abstract class CommandSandbox implements Sandbox {
  protected abstract readonly commands: SandboxCommands;
  abstract readonly browser: string | undefined;
  abstract readonly files: SandboxFiles;

  constructor(readonly id: string) {}

  abstract connect(port: number): Promise<Duplex>;
  abstract stop(): Promise<Termination>;

  exec(request: CommandRequest, on?: CommandListeners): Promise<CommandOutcome> {
    return this.commands.exec(request, on);
  }

  start(request: CommandRequest & { session: string }): Promise<ProcessView> {
    return this.commands.start(request);
  }

  read(session: string, fromOffset?: number): Promise<ProcessView> {
    return this.commands.read(session, fromOffset);
  }

  list(): Promise<ProcessView[]> {
    return this.commands.list();
  }

  write(session: string, text: string): Promise<void> {
    return this.commands.write(session, text);
  }

  terminate(session: string): Promise<Termination> {
    return this.commands.terminate(session);
  }

  kill(commandId: string): Promise<Termination> {
    return this.commands.kill(commandId);
  }

  /** Restarts the idle time: a caller is about to use the sandbox. */
  touch(): void {
    this.commands.touch();
  }

  activity(): AwakeSandbox {
    return { threadId: this.id, ...this.commands.activity() };
  }

  isIdle(): boolean {
    return this.commands.isIdle();
  }
}
