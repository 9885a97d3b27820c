import type { FileChanges, PreparationStep, SandboxSize } from '@rondo/contract';
import type { EgressGate } from '../egress/egress-gate';
import type { FreeDisk } from './free-disk';
import type { EndedCommand, Sandbox } from './sandbox';
import type { SandboxCopies } from './sandbox-copies';
import type { DeletionReason, SandboxRecords } from './sandbox-records';
import type { SandboxShape } from './sandbox-shape';

/** Is told what is done next for a workspace that is prepared. */
export type ReportStep = (step: PreparationStep) => void;

/**
 * Creates the sandboxes of threads and finds them again: on this machine, or at a service. Every implementation passes the
 * same tests, `describeSandboxProvider` in testing/sandbox-provider.contract.ts, and declares what it cannot do.
 */
export interface SandboxProvider {
  /** Lowercase, for logs and announcements. */
  readonly name: string;
  readonly affinity: SandboxAffinity;
  /** When each was used, and what became of it. */
  readonly records: SandboxRecords;
  /** Absent where none are configured, and where any executor reaches the sandboxes. */
  readonly copies?: SandboxCopies;
  /** The states of workspaces at moments of their runs. Absent where none are kept. */
  readonly moments?: SandboxMoments;
  /** Of the disk that its sandboxes share with this process. Absent where they are not on this machine. */
  readonly freeDisk?: Pick<FreeDisk, 'freeBytes' | 'refusal' | 'require'>;
  /** What a thread's sandbox may reach. Tools that use the network on a sandbox's behalf ask here. */
  toEgress(threadId: string): EgressGate;
  /** How the thread's sandbox is made at its next boot, other than the deployment's own. */
  findShape(threadId: string): SandboxShape | undefined;
  /**
   * Has it made so at its next boot; undefined: as the deployment's own. Rejects with `unsupported` or `failed` and the name of the field
   * where it cannot be, and then nothing has changed.
   */
  reshape(threadId: string, shape: SandboxShape | undefined, report?: ReportStep): Promise<void>;
  /**
   * Runs a command in a real sandbox and reports what came of it, or asks a service whether it would create one where a trial
   * has a price. A failure is cached for a while.
   */
  probe(): Promise<ProbeResult>;
  /**
   * The thread's sandbox. Nothing is created before its first use; `labels` are those of the use that creates it. Rejects
   * with `unavailable` when no sandbox can be created.
   */
  get(threadId: string, labels?: SandboxLabels): Promise<Sandbox>;
  /**
   * The folder that the thread's sandbox sees read-only at `/skills`, also while it is awake. Undefined, or absent, where a sandbox
   * can be shown none.
   */
  openSkills?(threadId: string, labels: SandboxLabels): Promise<string | undefined>;
  /** The sandboxes that exist, awake or not, whose labels include all of these. A reconciler compares them with the threads. */
  list(labels?: Partial<SandboxLabels>): Promise<ListedSandbox[]>;
  /**
   * Ends everything that the commands of a run have left running in the thread's sandbox, daemons included. Processes of
   * earlier runs stay. Rejects when a process cannot be verified dead. Creates and wakes nothing.
   */
  endRun(threadId: string, run: string): Promise<EndedCommand[]>;
  /**
   * Kills the thread's processes and deletes its workspace, if there is one. Works without a successful probe. With a reason,
   * the thread lives on: its record keeps the reason, for the next call to be told.
   */
  remove(threadId: string, reason?: DeletionReason): Promise<void>;
  /**
   * Moves the files of a sandbox that sleeps to where they take less. The next use brings them back as they were; one that
   * comes meanwhile does not wait for long. False where it is awake, or has no files. Repeating it is always safe.
   */
  archive(threadId: string): Promise<boolean>;
  /** The sandboxes of this process that run processes or are about to. */
  awake(): readonly AwakeSandbox[];
  /** Sandboxes that were booted for no thread yet: how many are ready, and how many became a thread's so far. */
  countPrepared(): PreparedCounts;
  /** What the files of an awake sandbox take, as last measured. Undefined where nothing was, or a service keeps them. */
  diskBytes(threadId: string): number | undefined;
  isAwake(threadId: string): boolean;
  /** Kills all processes of the thread's sandbox and keeps its files; the next use wakes it. */
  putToSleep(threadId: string): Promise<void>;
  /** Puts the sandboxes to sleep that were unused for the idle time, and returns their threads. Runs periodically as well. */
  stopIdle(): Promise<string[]>;
  /** Kills everything that this process has started. Workspaces stay. */
  close(): Promise<void>;
}

/** What the files of workspaces were after calls that may have changed them, and before the first such call of a run. */
export interface SandboxMoments {
  /** Before such a call. Resolves to what has to be called when it has ended. */
  enter(threadId: string, use: UseOfFiles): Promise<() => void>;
  /** The newest among these whose files were kept, each the id of a call or a run; or why there is none. */
  find(threadId: string, keys: readonly string[]): Promise<{ moment: string | null; refused: string | null }>;
  /** What a return would do to the files of the thread that had the moment. */
  preview(threadId: string, moment: string, labels: SandboxLabels): Promise<FileChanges>;
  /**
   * Makes the files what they were. Ends every process of the sandbox. May be repeated, also after a kill. Rejects with SandboxError:
   * `unavailable` while calls of the thread are at work.
   */
  bringBack(threadId: string, order: ReturnOrder): Promise<FileChanges>;
  /** What the states of an account take, and may take, in bytes. */
  measure(account: string): Promise<{ used: number; limit: number }>;
}

export interface UseOfFiles {
  readonly run: string;
  readonly call: string;
  readonly labels: SandboxLabels;
}

export interface ReturnOrder {
  /** The thread that had the moment. */
  readonly of: string;
  readonly moment: string;
  /** The run that wants it. What the files were before is kept under its name. */
  readonly run: string;
  readonly labels: SandboxLabels;
}

/** `executor`: only the executor that created a sandbox reaches it. `none`: any executor with this provider does. */
export type SandboxAffinity = 'executor' | 'none';

/** What a sandbox was created for. Values are ids; a provider stores them with the sandbox. */
export interface SandboxLabels {
  /** The deployment: several may share one account at a service. */
  readonly install?: string;
  readonly account?: string;
  readonly thread?: string;
  readonly run?: string;
  /** The run's claim under which the sandbox was created. */
  readonly epoch?: string;
}

const labelNames = ['install', 'account', 'thread', 'run', 'epoch'] as const satisfies (keyof SandboxLabels)[];

/** The labels of ours among those that a sandbox has at a service. */
export const labelsIn = (given: Readonly<Record<string, string>>): SandboxLabels =>
  Object.fromEntries(labelNames.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));

/** Whether a sandbox has all of the wanted labels, with these values. */
export const hasLabels = (labels: SandboxLabels, wanted: Partial<SandboxLabels>): boolean =>
  labelNames.every((name) => wanted[name] === undefined || labels[name] === wanted[name]);

export interface ListedSandbox {
  readonly threadId: string;
  readonly labels: SandboxLabels;
  readonly state: ListedState;
  /** In milliseconds since the epoch, where the provider itself knows it. */
  readonly lastUsedAt?: number;
}

/** `asleep`: only its files exist. `archived`: they have to be brought back before it can be used. */
export type ListedState = 'awake' | 'asleep' | 'archived';

export interface PreparedCounts {
  readonly ready: number;
  readonly bound: number;
}

export interface AwakeSandbox {
  readonly threadId: string;
  /** A call waits for a command in it. */
  readonly isBusy: boolean;
  readonly hasBackground: boolean;
  /** In milliseconds since the epoch. */
  readonly lastUsedAt: number;
}

/** What sandboxes of a provider can do here. Tools and tests ask for these instead of guessing from its name. */
export interface SandboxCapabilities {
  /** Commands are isolated from the executor and from each other's threads. False only where an operator switched it off. */
  readonly isolation: boolean;
  /** The network of commands is restricted by this deployment's egress rules. */
  readonly egressPolicy: boolean;
  /** The size of a workspace is limited by the kernel, not only measured. */
  readonly hardDisk: boolean;
  /** What a sandbox is held to, and the most of it that one may have here. */
  readonly size: SandboxSize;
  /** What a size must be a multiple of. Absent: any will do. */
  readonly sizeStep?: SandboxSize;
  /** `start` runs commands in the background of a session. */
  readonly backgroundSessions: boolean;
  /** `start` with `openInput`, and `write`. */
  readonly stdin: boolean;
  /** `endRun` finds processes that have left their command's group and session. */
  readonly runProcesses: boolean;
  /** `connect` reaches servers in the sandbox. */
  readonly ports: boolean;
}

export interface ProbeResult {
  readonly usable: boolean;
  /** Why not, and what to do about it. */
  readonly reason?: string;
  readonly advice?: string;
  /** What is missing although sandboxes are usable, and what to do about it. */
  readonly warning?: string;
  readonly capabilities: SandboxCapabilities;
  /** Facts that only this provider has, for logs and its own tests. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The shape of pino. Providers log decisions, never commands or output. */
export interface SandboxLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
}
