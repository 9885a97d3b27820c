import type { Duplex } from 'node:stream';

/**
 * Where tools act. Each thread has one sandbox: a private file system with one writable directory (`/workspace`), private
 * processes, and a network that the provider restricts as far as it declares (`SandboxCapabilities`).
 *
 * The unit is a command, not a shell: every command is a process group of its own that ends in exactly one of the ways listed
 * in `Ending`. A session is only a name under which the working directory and the environment carry over from
 * one command to the next.
 *
 * Paths are relative to `/workspace` (an absolute path must lie in it) and are resolved inside the sandbox, so that a
 * symbolic link can never lead to a file of the host.
 */
export interface Sandbox {
  readonly id: string;
  /** The program Chromium as commands see it. Undefined where the sandbox has no browser. */
  readonly browser: string | undefined;
  /**
   * Runs a command and waits for its end. Resolves however the command ends, also when the sandbox is lost; rejects
   * with SandboxError only when the command could not be started. A second call with the same id attaches to the
   * first: the command runs once, and both get its outcome. Only one that was killed, or lost with its sandbox, runs again.
   */
  exec(command: CommandRequest, on?: CommandListeners): Promise<CommandOutcome>;
  /**
   * Starts a command in the background of a session and returns at once. A session has one such job at a time. Rejects with
   * `unsupported` where the provider has no background sessions.
   */
  start(command: CommandRequest & { session: string }): Promise<ProcessView>;
  /** What the latest background job of a session wrote since `fromOffset`, and its state. */
  read(session: string, fromOffset?: number): Promise<ProcessView>;
  /** The background jobs of this sandbox that are still known, the newest first. */
  list(): Promise<ProcessView[]>;
  /**
   * Writes text to the standard input of a session's background job. Rejects with `invalid_request` when the job has ended
   * or was started without `openInput`, and with `failed` when it has
   * stopped reading.
   */
  write(session: string, text: string): Promise<void>;
  /** Kills the background job of a session with all its descendants. Resolves when they are verified dead. */
  terminate(session: string): Promise<Termination>;
  /** The same for any command by its id. Does nothing for a command that has ended or is unknown. */
  kill(commandId: string): Promise<Termination>;
  /**
   * Connects to a port on the sandbox's own loopback. The stream applies back pressure both ways, can be half-closed, and is
   * destroyed with the sandbox. Rejects with `not_listening` when no process of the sandbox listens there, with `failed` when
   * too many connections are open, and with `unsupported` where the provider has no way in. Wakes no sandbox.
   */
  connect(port: number): Promise<Duplex>;
  /**
   * Runs a bash script whose standard input and output are the stream, byte for byte. Destroying the stream ends the script. Only
   * where `connect` is unsupported.
   */
  attach?(script: string, run: string): Promise<Duplex>;
  /**
   * A URL of the provider under which everyone reaches an HTTP server of the sandbox, for so many seconds. Only where `connect` is
   * unsupported. Rejects with `not_listening` when no process of the sandbox listens there.
   */
  expose?(port: number): Promise<{ url: string; seconds: number }>;
  readonly files: SandboxFiles;
  /** Kills every process in the sandbox. The workspace stays; the next use boots it again. */
  stop(): Promise<Termination>;
}

export interface CommandRequest {
  /** The tool call's id, under which a command runs once. The command finds it in `RONDO_IDEMPOTENCY_KEY`. */
  id: string;
  command: string;
  /** The run that it belongs to: `endRun` ends what the commands of a run have left running. */
  run?: string;
  /** Default `default`. */
  session?: string;
  /** Where to run; without it, where the session's last command ended. */
  cwd?: string;
  /** Keeps standard input open for `write`. Without it, standard input is empty. Needs the capability `stdin`. */
  openInput?: boolean;
  /** After this long the process group is killed and the outcome is `timeout`, never `exit` (background jobs have no limit unless one is set). */
  timeoutMs?: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs?: number;
  /** A command that writes more is killed: `output-limit`. */
  maxOutputBytes?: number;
  /** How much of the output is kept: half of it from the start, half from the end. */
  keepBytes?: number;
}

export interface CommandListeners {
  output?: (chunk: OutputChunk) => void;
  /** Aborting kills the command; the outcome is then `killed`. */
  signal?: AbortSignal;
}

/** Whole characters; `offset` is the length of all text before this chunk. */
export interface OutputChunk {
  text: string;
  offset: number;
}

/**
 * `exit` the shell ended by itself (see `exitCode`; a signal counts as 128 + its number) · `timeout`, `output-limit`
 * a limit of the request was reached · `killed` on request (or by the disk quota, see `detail`) · `oom` the
 * memory limit was reached · `sandbox-lost` the sandbox died meanwhile: whether the command took effect is unknown.
 */
export type Ending = 'exit' | 'timeout' | 'output-limit' | 'killed' | 'oom' | 'sandbox-lost';

export interface CommandOutcome {
  ending: Ending;
  /** Present only when `ending` is `exit`. */
  exitCode?: number;
  /** stdout and stderr in the order they were written; the middle is left out when it is longer than `keepBytes`. */
  output: string;
  truncated: boolean;
  outputBytes: number;
  /** The session's working directory after the command. */
  cwd: string;
  durationMs: number;
  /** One sentence more about an ending that needs it. */
  detail?: string;
}

export interface ProcessView {
  commandId: string;
  session: string;
  command: string;
  running: boolean;
  /** The requested range as text. A note replaces bytes that are no longer kept. */
  output: string;
  /** Pass it to the next `read` to get only what is new. */
  nextOffset: number;
  cwd: string;
  startedAt: string;
  /** Present once it has ended. */
  outcome?: CommandOutcome;
}

export interface Termination {
  /** False when there was nothing left to kill. */
  wasRunning: boolean;
  verifiedDeadAt: string;
}

/** Processes that a run had left running, by the command that started them. */
export interface EndedCommand {
  commandId: string;
  /** The names of its processes. */
  processes: string[];
  verifiedDeadAt: string;
}

export interface SandboxFiles {
  /** The whole file, or the given range of it. Without a range, a file over the size limit is `too_large`. */
  read(path: string, range?: { offset: number; length: number }): Promise<FileContent>;
  /** Creates missing parents. Never leaves a half-written file. */
  write(path: string, content: Uint8Array | string, how: WriteOptions): Promise<void>;
  /**
   * The same for a file of any size, in pieces: it appears once the source has ended. `too_large` beyond `maxBytes`; then, and
   * where the source fails, nothing of it is left. Resolves to the number of bytes.
   */
  writeStream(path: string, source: AsyncIterable<Uint8Array>, how: StreamOptions): Promise<number>;
  /** `not_found` when there is nothing; a directory only when `recursive`. */
  delete(path: string, how?: { recursive?: boolean }): Promise<void>;
  list(path: string, how?: ListOptions): Promise<FileListing>;
  /** Undefined when there is nothing at the path. Does not follow a symbolic link at its end. */
  stat(path: string): Promise<FileStatus | undefined>;
}

export interface FileContent {
  content: Buffer;
  /** Of the whole file. */
  size: number;
  /** Another one, once the file was replaced by another one of its name. */
  identity: string;
}

export interface WriteOptions {
  /** `create` fails with `already_exists`, `replace` with `not_found`, `put` does either. */
  mode: 'create' | 'replace' | 'put';
  /** For example 0o644. */
  permissions?: number;
}

export interface StreamOptions extends WriteOptions {
  maxBytes: number;
}

export interface ListOptions {
  /** 1 lists the directory itself. */
  depth?: number;
  /** Directories with these names are listed but not entered. */
  exclude?: readonly string[];
}

export interface FileListing {
  entries: ListedFile[];
  truncated: boolean;
}

interface ListedFile {
  /** Bytes of a name that are no UTF-8 are shown as U+FFFD. */
  path: string;
  kind: FileKind;
  size: number;
  /** A folder that the sandbox may not read: what is in it is missing in the list. */
  unreadable?: true;
}

export type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileStatus {
  kind: FileKind;
  size: number;
  permissions: number;
  modifiedAt: string;
}
