/** A program that was started here: a server or a service. */
export interface RunningProgram {
  readonly name: string;
  readonly url: string;
  /** Undefined while it is down, and for a server that this command did not start. */
  readonly pid: number | undefined;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  /** Gives it time to finish. */
  stop(): Promise<void>;
  /** Sends a signal, SIGKILL by default; after SIGKILL, resolves when the program is dead. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}
