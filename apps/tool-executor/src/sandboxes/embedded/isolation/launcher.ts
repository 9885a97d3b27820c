import type { Duplex } from 'node:stream';
import type { ListedParts } from '../commands/listed-owners';
import type { RunProcesses } from '../commands/run-processes';
import type { Workspace } from '../files/workspaces';

/** A booted agent, seen from outside. */
export interface LaunchedAgent {
  /** Carries frames both ways; closes when the agent goes. */
  control: Duplex;
  /** What the agent is told first: where it lives and what it must see to. */
  configuration: AgentConfiguration;
  /** Resolves when everything in the sandbox is gone, with the last words of whoever failed to start it. */
  ended: Promise<string>;
  /** Kills everything in the sandbox; false when that could not be verified. */
  kill(): Promise<boolean>;
  /** To be asked once the agent is configured and before it runs anything; missing where the host cannot tell processes apart. */
  runProcesses?(freezing: Freezing): Promise<RunProcesses>;
  /** How often the kernel has killed for memory in there. */
  outOfMemoryKills(): number;
}

/** What the agent does with every process of the sandbox but itself. */
export type Freezing = Pick<ListedParts, 'freeze' | 'thaw'>;

export interface AgentConfiguration {
  workspace: string;
  sessionDirectory: string;
  environment: Record<string, string>;
  relay?: { port: number; socketPath: string };
  /** Set where no control group limits memory. */
  watchedMemoryBytes?: number;
  /** Set where there is no isolation. */
  realRoot?: string;
}

/** Ways to get an agent running: in bubblewrap, or (switched on explicitly) as a plain process of the host. */
export interface Launcher {
  launch(workspace: Workspace): Promise<LaunchedAgent>;
}

export const agentMemoryMegabytes = 96;
