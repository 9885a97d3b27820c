import { posix } from 'node:path';
import { SandboxError } from './sandbox-error';

export const workspacePath = '/workspace';
const maximumPathBytes = 4_000;

/**
 * Converts a path of a request to one relative to the workspace. Refuses `..` that leads out of the workspace, and absolute
 * paths outside it. This only reports mistakes early: the host is safe because paths are opened inside the sandbox.
 */
export function relativeToWorkspace(path: string): string {
  if (path.includes('\0') || Buffer.byteLength(path) > maximumPathBytes) {
    throw new SandboxError('invalid_path', 'The path is too long or contains a zero byte.');
  }
  const relative = posix.relative(workspacePath, posix.resolve(workspacePath, path));
  if (relative === '..' || relative.startsWith('../')) {
    throw new SandboxError('invalid_path', `${path} lies outside ${workspacePath}.`);
  }
  return relative;
}

/** A path as results show it: relative to the workspace, `.` for the workspace itself. */
export const shownPath = (path: string): string =>
  posix.relative(workspacePath, posix.resolve(workspacePath, path)) || '.';
