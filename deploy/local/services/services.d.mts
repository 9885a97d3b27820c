import type { InfrastructureEnvironment } from '../servers/infrastructure.mjs';
import type { Progress } from '../progress.mjs';
import type { RunningProgram } from './supervised-process.mjs';

export type ServiceName = 'demo-model' | 'tool-executor' | 'agent-worker' | 'summarizer' | 'gateway';

interface Command {
  file: string;
  args: string[];
  cwd?: string;
  env: NodeJS.ProcessEnv;
}

export interface ServicesRequest {
  /** Where logs, process files and sandboxes go; usually the one of the infrastructure. */
  dataDir: string;
  /** The URLs, as `Infrastructure.env` has them. */
  infrastructure: InfrastructureEnvironment;
  /** Becomes the gateway's RONDO_ADMIN_KEY. */
  adminKey?: string;
  /** What to start, one of each unless given. A service named twice starts twice: `gateway`, `gateway-2`. */
  instances?: readonly ServiceName[];
  /** The address that services listen on; 127.0.0.1 unless given. */
  host?: string;
  /** By instance; the others get free ports. */
  ports?: Readonly<Record<string, number>>;
  /** More variables, by service or by instance; the instance's win. */
  settings?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What the services may inherit; `process.env` unless given. */
  env?: NodeJS.ProcessEnv;
  /** Starts a service again when it dies; on unless told otherwise. */
  supervise?: boolean;
  /** Before each start of a service that has died soon after its start; the last one holds for all further ones. */
  restartDelaysMs?: readonly number[];
  /** The command that starts an instance with this environment; the one of this repository unless given. */
  launch?: (instance: { service: ServiceName; name: string; env: NodeJS.ProcessEnv }) => Command;
  log?: Progress;
}

export declare class Services {
  constructor(request: ServicesRequest);
  readonly all: readonly RunningProgram[];
  start(): Promise<void>;
  /** By instance: `agent-worker`, `agent-worker-2`. */
  get(instance: string): RunningProgram;
  /** The servers' URLs with this instance's own user names and passwords. */
  toUrls(instance: string): InfrastructureEnvironment;
  stop(): Promise<void>;
}

export function startServices(request: ServicesRequest): Promise<Services>;
