import { failedResult } from '@rondo/contract';
import { shellQuoted } from '../shell/shell-quoted';
import { type ToolInput, type ToolHandler, succeeded } from '../tool-handler';
import { aboutFile } from './about-file';
import { privateSession } from './private-session';

/** A command does it, so that every kind of sandbox has it. */
export const createDirectory: ToolHandler<ToolInput<'create_directory'>> = {
  handle: ({ path }, { sandbox, idempotencyKey, runId, timeoutMs, signal }) =>
    aboutFile(path, async (folder) => {
      if ((await sandbox.files.stat(path))?.kind === 'directory') return succeeded(`${folder} exists already.`);
      const command = `mkdir -p -- ${shellQuoted(folder)}`;
      const request = { id: idempotencyKey, run: runId, command, cwd: '.', session: privateSession, timeoutMs };
      const { ending, exitCode, output } = await sandbox.exec(request, { signal });
      if (ending === 'killed') signal.throwIfAborted();
      if (exitCode !== 0) return failedResult(output.trim() || `${folder} was not created (${ending}).`);
      return succeeded(`Created the folder ${folder}.`);
    }),
};
