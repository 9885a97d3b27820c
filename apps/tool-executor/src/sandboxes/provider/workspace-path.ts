import { posix } from 'node:path';
import { SandboxError } from './sandbox-error';

export const workspacePath = '/workspace';
const skillsPath = '/skills';
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

/** The same for a path that is only read: it may also lie in `/skills`, which the sandbox cannot change. */
export function readableFromWorkspace(path: string): string {
  const absolute = posix.resolve(workspacePath, path);
  return isOfSkill(absolute) && !path.includes('\0')
    ? posix.relative(workspacePath, absolute)
    : relativeToWorkspace(path);
}

/** A path as results show it: relative to the workspace, `.` for the workspace itself. One of a skill is absolute. */
export function toShownPath(path: string): string {
  const absolute = posix.resolve(workspacePath, path);
  return isOfSkill(absolute) ? absolute : posix.relative(workspacePath, absolute) || '.';
}

const isOfSkill = (absolute: string): boolean => absolute === skillsPath || absolute.startsWith(`${skillsPath}/`);
