export type SandboxErrorCode =
  | 'unavailable'
  | 'lost'
  | 'invalid_request'
  | 'invalid_path'
  | 'not_found'
  | 'already_exists'
  | 'not_a_file'
  | 'not_a_directory'
  | 'too_large'
  | 'session_busy'
  | 'not_listening'
  | 'unsupported'
  | 'failed';

/**
 * What a sandbox refuses or could not do. `unavailable` and `lost` concern the sandbox and may pass; every other code is
 * an answer about the request itself, with a message fit for the model to read.
 */
export class SandboxError extends Error {
  constructor(
    readonly code: SandboxErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'SandboxError';
  }
}

/** What boots sandboxes cannot be reached, so nothing was done. It may be back soon. */
export class EngineAway extends SandboxError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/** Another executor hosts the workspace now, so nothing was done. */
export class WorkspaceMoved extends SandboxError {
  constructor() {
    super('unavailable', 'Not executed: the workspace of this thread is on another executor now. Repeat the call.');
  }
}

/** Of what this machine could not write because its disk is full. Undefined for any other error. */
export function toFullDisk(error: unknown): SandboxError | undefined {
  const { code } = error as NodeJS.ErrnoException; // Node's own file system errors carry a code
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  return new SandboxError(
    'unavailable',
    'The disk of this executor is full. Try again when its operator has freed some of it.',
  );
}
