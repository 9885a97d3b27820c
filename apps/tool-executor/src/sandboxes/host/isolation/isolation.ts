import type { EgressGates } from '../../egress/egress-gate';
import type { ProbeResult } from '../../sandbox-provider';
import type { SandboxSettings } from '../../sandbox-settings';
import type { Workspaces } from '../files/workspaces';
import type { Launcher } from './launcher';

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
  workspaces: Workspaces;
}
