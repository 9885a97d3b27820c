export interface NatsProgram {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The program, from the PATH or from the distribution's package below the data directory, and the environment that it needs. */
export function findNatsServer(dataDir: string): Promise<NatsProgram>;

/** All users of the NATS server of this data directory, as a part of its configuration. */
export function toUsers(dataDir: string): string;
