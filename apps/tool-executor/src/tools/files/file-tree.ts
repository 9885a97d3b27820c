import { posix } from 'node:path';
import type { ToolResult } from '@rondo/contract';
import { type FileListing, type SandboxFiles, toShownPath } from '../../sandboxes';
import { clipMiddle } from '../clip-text';
import { toSuccess } from '../tool-handler';

/** Shown, but not entered: generated files, which models rarely need. */
export const unlistedFolders = [
  '.git',
  '.hg',
  '.svn',
  '.rondo',
  'node_modules',
  'bower_components',
  '.venv',
  'venv',
  '__pycache__',
  '.mypy_cache',
  '.pytest_cache',
  '.cache',
  '.next',
  'dist',
  'build',
];

/** One line per entry, relative to the workspace; the entries of a folder follow it. */
export function toTree(folder: string, entries: FileListing['entries']): string {
  const sorted = entries.toSorted((a, b) => compareByParts(a.path, b.path));
  const lines = sorted.map(({ path, kind, size, unreadable }) => {
    const shown = posix.join(folder, path);
    switch (kind) {
      case 'directory':
        if (unreadable) return `${shown}/ (cannot be read)`;
        return `${shown}/${unlistedFolders.includes(posix.basename(path)) ? ' (not listed)' : ''}`;
      case 'file':
        return `${shown} (${size} bytes)`;
      case 'link':
        return `${shown} (link)`;
      case 'other':
        return `${shown} (neither file nor folder)`;
    }
  });
  return lines.join('\n') || `${folder} is empty.`;
}

/** Compares path segments, so that `a/b` sorts after `a` and before `a.txt`. */
function compareByParts(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  const index = left.findIndex((part, at) => part !== right[at]);
  const [one, other] = [left[index], right[index]];
  if (one === undefined) return left.length - right.length;
  return other === undefined || one > other ? 1 : -1;
}

export async function listFolder(files: SandboxFiles, path: string, depth: number): Promise<ToolResult> {
  const { entries, truncated } = await files.list(path, { depth, exclude: unlistedFolders });
  const clipped = clipMiddle(toTree(toShownPath(path), entries));
  const note = truncated ? '\n[… there is more: list a folder further down, or with less depth]' : '';
  return toSuccess(`${clipped.text}${note}`, truncated || clipped.truncated);
}
