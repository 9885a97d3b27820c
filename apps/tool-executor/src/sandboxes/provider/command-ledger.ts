import type { CommandRecord } from './command-record';

export interface RunningCommand {
  /** Resolves when no process of the command is alive. */
  kill(): Promise<void>;
  /** To its standard input. Rejects where that is not open. */
  write(text: string): Promise<void>;
}

export interface KnownCommand {
  record: CommandRecord;
  /** Resolves once it runs. Rejects when it could not be started; then its record is removed. */
  started: Promise<RunningCommand>;
}

const rememberedCommands = 64;

/** The commands of a sandbox by their ids: all that run, and the latest of those that have ended. */
export class CommandLedger {
  private readonly known = new Map<string, KnownCommand>();

  /** Undefined also for an interrupted command: a caller that repeats its id has decided to run it again. */
  get(id: string): KnownCommand | undefined {
    const known = this.known.get(id);
    return known?.record.wasInterrupted ? undefined : known;
  }

  add(id: string, command: KnownCommand): void {
    this.known.delete(id); // Inserted again, the newest is last.
    this.known.set(id, command);
    command.started.catch(() => this.known.delete(id));
    this.removeOldest();
  }

  running(): KnownCommand[] {
    return [...this.known.values()].filter(({ record }) => record.running);
  }

  /** Newest first. */
  jobs(): CommandRecord[] {
    const records = [...this.known.values()].map(({ record }) => record);
    return records.filter(({ identity }) => identity.background).reverse();
  }

  job(session: string): CommandRecord | undefined {
    return this.jobs().find(({ identity }) => identity.session === session);
  }

  private removeOldest(): void {
    for (const [id, { record }] of this.known) {
      if (this.known.size <= rememberedCommands) return;
      if (!record.running) this.known.delete(id);
    }
  }
}
