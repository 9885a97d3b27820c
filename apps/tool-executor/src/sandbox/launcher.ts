import type { Duplex } from 'node:stream';
import type { Workspace } from './workspaces';

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
  /** How often the kernel has killed for memory in there. */
  outOfMemoryKills(): number;
}

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
