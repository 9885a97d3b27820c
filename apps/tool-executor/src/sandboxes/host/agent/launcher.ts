import type { Duplex } from 'node:stream';
import type { ListedParts } from '../processes/listed-owners';
import type { RunProcesses } from '../processes/run-processes';
import type { ReportStep } from '../../provider/sandbox-provider';
import type { SandboxShape } from '../../provider/sandbox-shape';
import type { Workspace } from '../workspaces/workspaces';

/** A running agent as the host sees it. */
export interface LaunchedAgent {
  /** Carries frames both ways; closes when the agent goes. */
  control: Duplex;
  /** The first message to the agent: its paths, and the limits that it must enforce. */
  configuration: AgentConfiguration;
  /** Resolves when every process of the sandbox is gone, with the last lines of stderr. */
  ended: Promise<string>;
  /** Kills everything in the sandbox; false when that could not be verified. */
  kill(): Promise<boolean>;
  /**
   * Called once, after the agent is configured and before it runs a command. Missing, or resolves to undefined, when the host
   * cannot attribute processes to runs.
   */
  runProcesses?(freezing: Freezing): Promise<RunProcesses | undefined>;
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
  /** For commands that may use secrets, which then also have this environment. */
  secretRelay?: { port: number; socketPath: string };
  secretEnvironment?: Record<string, string>;
  /** Set where no control group limits memory. */
  watchedMemoryBytes?: number;
  /** Set where there is no isolation. */
  realRoot?: string;
}

/** Ways to get an agent running: in bubblewrap, or (switched on explicitly) as a plain process of the host. */
export interface Launcher {
  /** The directory of a workspace, and its thread, may change while its agent runs. */
  readonly movesWorkspaces: boolean;
  launch(workspace: Workspace): Promise<LaunchedAgent>;
  /** Gets what sandboxes of this image are made from. Rejects with SandboxError. Absent where they have the programs of their host. */
  provide?(shape: SandboxShape, report?: ReportStep): Promise<unknown>;
}

export const agentMemoryMegabytes = 96;
/** What is kept in memory of the sessions of a sandbox. */
export const sessionBytes = 16 * 1024 * 1024;
