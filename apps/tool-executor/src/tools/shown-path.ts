import { posix } from 'node:path';

const workspace = '/workspace';

/** A path as results show it: relative to the workspace. */
export const shownPath = (path: string): string => posix.relative(workspace, posix.resolve(workspace, path)) || '.';
