import type { EgressGates } from '../../egress/egress-gate';
import type { ProbeResult, SandboxLog } from '../../provider/sandbox-provider';
import type { SandboxSettings } from '../../provider/sandbox-settings';
import type { Workspaces } from '../workspaces/workspaces';
import type { Launcher } from '../agent/launcher';

/** What is needed to boot sandboxes on this host. */
export interface Isolation<Result extends ProbeResult = ProbeResult> {
  result: Result;
  /** Proven by a command that ran in a sandbox; missing where that failed. */
  launcher?: Launcher;
  /** Deletes the files that it has put on this host. */
  remove: () => Promise<void>;
}

export interface IsolationSite {
  settings: SandboxSettings;
  egress: EgressGates;
  log: SandboxLog;
  workspaces: Workspaces;
}
