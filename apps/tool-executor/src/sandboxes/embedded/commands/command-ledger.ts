import type { CommandRecord } from './command-record';
import type { CommandRun } from './command-run';

export interface KnownCommand {
  record: CommandRecord;
  /** Resolves once it runs; rejects when it could not be started, and then it is forgotten. */
  started: Promise<CommandRun>;
}

const rememberedCommands = 64;

/** The commands of a sandbox by their ids. Running ones are never forgotten; of the others, the latest are remembered. */
export class CommandLedger {
  private readonly known = new Map<string, KnownCommand>();

  /** Undefined also where it was cut down: whoever asks for it again has decided that it is to run again. */
  get(id: string): KnownCommand | undefined {
    const known = this.known.get(id);
    return known?.record.wasCutDown ? undefined : known;
  }

  add(id: string, command: KnownCommand): void {
    this.known.delete(id); // the newest stands last
    this.known.set(id, command);
    command.started.catch(() => this.known.delete(id));
    this.forgetOldest();
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

  private forgetOldest(): void {
    for (const [id, { record }] of this.known) {
      if (this.known.size <= rememberedCommands) return;
      if (!record.running) this.known.delete(id);
    }
  }
}
