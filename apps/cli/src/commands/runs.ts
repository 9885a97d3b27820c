import { type Run, describeEnding } from '@rondo/client';
import type { Command } from '../command';
import { readCount } from '../parse-arguments';

/** How long ago it was, or has lasted. */
export const age = (at: string): string => {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1000);
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
};

export const runs: Command = {
  name: 'runs',
  summary: 'List runs, newest first',
  options: [
    { name: 'status', short: 's', value: 'STATUS', help: 'only these, for example running or waiting_input' },
    { name: 'thread', short: 't', value: 'THREAD', help: 'only of this conversation' },
    { name: 'project', value: 'PROJECT', help: 'only of this project' },
    { name: 'search', short: 'q', value: 'WORDS', help: 'only with these words in the input' },
    { name: 'limit', short: 'n', value: 'NUMBER', help: 'at most so many (20)' },
  ],
  async run(given, { rondo, terminal }) {
    const limit = readCount(given, 'limit', 1) ?? 20;
    const status = given.value('status') as Run['status'] | undefined; // the gateway refuses one that it does not know
    const thread_id = given.value('thread');
    const project_id = given.value('project');
    const q = given.value('search');
    const query = {
      ...(status && { status }),
      ...(thread_id !== undefined && { thread_id }),
      ...(project_id !== undefined && { project_id }),
      ...(q !== undefined && { q }),
      limit: Math.min(limit, 200),
    };
    const found: Run[] = [];
    for await (const run of rondo().runs.list(query)) {
      found.push(run);
      if (found.length === limit) break;
    }
    if (terminal.isJson) for (const run of found) terminal.json(run);
    else
      terminal.table([
        ['RUN', 'STATUS', 'MODEL', 'ITERATION', 'AGE', 'INPUT'],
        ...found.map((run) => [
          run.id,
          describeEnding(run)?.word.toLowerCase() ?? run.status,
          run.model,
          `${run.iteration}`,
          age(run.created_at),
          run.preview ?? '',
        ]),
      ]);
    return 'ok';
  },
};
