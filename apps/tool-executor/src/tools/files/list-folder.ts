import type { ToolResult } from '@rondo/contract';
import { type SandboxFiles, shownPath } from '../../sandboxes';
import { clipMiddle } from '../clip-text';
import { succeeded } from '../tool-handler';
import { toTree, unlistedFolders } from './file-tree';

export async function listFolder(files: SandboxFiles, path: string, depth: number): Promise<ToolResult> {
  const { entries, truncated } = await files.list(path, { depth, exclude: unlistedFolders });
  const clipped = clipMiddle(toTree(shownPath(path), entries));
  const note = truncated ? '\n[… there is more: list a folder further down, or with less depth]' : '';
  return succeeded(`${clipped.text}${note}`, truncated || clipped.truncated);
}
