/**
 * Copies of workspaces outside of this executor, from which another one restores them. A provider whose sandboxes any executor
 * reaches has none. Only what sleeps is copied: a sandbox that is awake may be writing.
 */
export interface SandboxCopies {
  /** Whether this executor has anything of the thread. Asked before calls, so it has to be quick. */
  hasFiles(threadId: string): boolean;
  /**
   * Saves a copy of the files, unless they are as in the last one. False where none was saved: the sandbox is awake, or a use
   * came meanwhile; then it is copied when it sleeps again. Rejects where the store fails.
   */
  save(threadId: string): Promise<boolean>;
  /** Saves a copy of all that sleep and have none, where that failed before. */
  saveAll(): Promise<void>;
  /**
   * Replaces what is here of the thread by the last copy that a lost executor has saved, and notes what the next call has to be
   * told. Without a copy nothing is here afterwards. Rejects where the copy cannot be had at the moment, or is damaged.
   */
  restore(threadId: string, from: string): Promise<void>;
  /** Deletes what is here, with this executor's copy: another one has the workspace now, and its copy stays. */
  leave(threadId: string): Promise<void>;
  /** Since the start. */
  readonly counts: CopyCounts;
}

export interface CopyCounts {
  readonly saved: number;
  readonly failed: number;
  /** With and without files. */
  readonly restored: number;
  readonly restoredEmpty: number;
}
