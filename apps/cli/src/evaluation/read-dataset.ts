import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, join, sep } from 'node:path';
import { UsageError } from '../command';
import { type DatasetRow, parseDataset } from './parse-dataset';
import type { EvaluationTask } from './task';

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The tasks of a JSONL file, or of a folder as GAIA is published: `[2023/]SPLIT/metadata.jsonl` with the files beside it. */
export function readDataset(path: string, split: string): EvaluationTask[] {
  const file = toMetadata(path, split);
  return parseDataset(readFileSync(file, 'utf8'), file).map((row) => withFiles(row, dirname(file)));
}

function toMetadata(path: string, split: string): string {
  if (isFile(path)) return path;
  const places = ['2023', '.'].map((year) => join(path, year, split, 'metadata.jsonl'));
  const found = places.find(isFile);
  if (found === undefined) throw new UsageError(`There is no dataset: neither ${[path, ...places].join(' nor ')}.`);
  return found;
}

function withFiles({ fileName, ...task }: DatasetRow, folder: string): EvaluationTask {
  if (fileName === null) return { ...task, files: [] };
  const file = join(folder, fileName);
  if (!isFile(file)) throw new UsageError(`The file of task ${task.taskId} is missing: ${file}`);
  const picture = `${file.slice(0, file.length - extname(file).length)}.png`; // a drawing of what only few programs read
  return { ...task, files: [...new Set([file, ...(isFile(picture) ? [picture] : [])])].map(inside(folder)) };
}

/** A link in a dataset from elsewhere must not send a file of this machine to a model. */
const inside = (folder: string) => (file: string) => {
  if (realpathSync(file).startsWith(realpathSync(folder) + sep)) return file;
  throw new UsageError(`${file} is a link out of the dataset.`);
};

export interface Selection {
  readonly start: number | undefined;
  /** Exclusive. */
  readonly end: number | undefined;
  readonly taskIds: readonly string[];
}

/** The tasks with these ids, or else those of the range. */
export function selectTasks(tasks: readonly EvaluationTask[], { start, end, taskIds }: Selection): EvaluationTask[] {
  if (taskIds.length > 0) {
    const known = new Set(tasks.map(({ taskId }) => taskId));
    const unknown = taskIds.filter((id) => !known.has(id));
    if (unknown.length > 0) throw new UsageError(`The dataset has no task ${unknown.join(', ')}.`);
    return tasks.filter(({ taskId }) => taskIds.includes(taskId));
  }
  const [from, to] = [start ?? 0, end ?? tasks.length];
  if (from < 0 || to > tasks.length || from >= to)
    throw new UsageError(`Invalid range: ${from} to ${to} of ${tasks.length} tasks.`);
  return tasks.slice(from, to);
}
