import { posix } from 'node:path';
import { SandboxError } from './sandbox-error';

export const workspacePath = '/workspace';
const maximumPathBytes = 4_000;

/**
 * A path as the model gives it, relative to the workspace. W63: `..` may not lead out of the workspace, nor may an absolute
 * path lie outside it. This keeps requests honest; what keeps the host safe is that the path is opened inside the sandbox.
 */
export function relativeToWorkspace(path: string): string {
  if (path.includes('\0') || Buffer.byteLength(path) > maximumPathBytes) {
    throw new SandboxError('invalid_path', 'The path is too long or holds a zero byte.');
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
