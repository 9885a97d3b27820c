import type { Progress } from '../progress.mjs';
import type { RunningProgram } from '../services/supervised-process.mjs';

export type ServerName = 'postgres' | 'redis' | 'nats';

export interface InfrastructureRequest {
  /** Everything that the servers write lies below it. Two sets need two of them. */
  dataDir: string;
  /** A data directory whose unpacked distribution packages may be used; its own unless given. */
  packagesDirectory?: string;
  /** Where given URLs and the PATH are read from; `process.env` unless given. */
  env?: NodeJS.ProcessEnv;
  want?: readonly (ServerName | 'bwrap')[];
  /** The address that servers listen on; 127.0.0.1 unless given. */
  host?: string;
  /** Takes 5432, 6379 and 4222 where they are free; otherwise any free ports. */
  preferredPorts?: boolean;
  /** Starts a server again when it dies; off unless asked for. */
  supervise?: boolean;
  /** Off for tests: a power failure may cost Postgres its data, and it waits for no disk. */
  isDurable?: boolean;
  log?: Progress;
}

export interface InfrastructureEnvironment {
  DATABASE_URL?: string;
  REDIS_URL?: string;
  NATS_URL?: string;
  BWRAP_PATH?: string;
  /** Chromium, where there is one. */
  BROWSER_PATH?: string;
}

export declare class Infrastructure {
  constructor(request: InfrastructureRequest);
  readonly servers: readonly RunningProgram[];
  readonly env: InfrastructureEnvironment;
  start(): Promise<void>;
  get(name: ServerName): RunningProgram;
  stop(): Promise<void>;
}

export function startInfrastructure(request: InfrastructureRequest): Promise<Infrastructure>;
