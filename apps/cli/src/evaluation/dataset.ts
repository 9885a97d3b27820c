import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, join, sep } from 'node:path';
import { UsageError } from '../command';
import { type JsonObject, readObject } from '../json-object';
import { compileSchema } from './schema-match';
import { type EvaluationTask, type Scorer, isScorer, scorers } from './task';

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

interface Selection {
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

/** A task whose file is still a name beside the dataset. */
interface DatasetRow extends Omit<EvaluationTask, 'files'> {
  readonly fileName: string | null;
}

/** The mark at the beginning of files that programs of Windows write. */
const byteOrderMark = /^\uFEFF/;

/** The tasks of JSON lines. Names of fields are those of GAIA or plain ones. Errors name the line and the field. */
export function parseDataset(text: string, file: string): DatasetRow[] {
  const rows = text
    .replace(byteOrderMark, '')
    .split('\n')
    .map((line, index) => ({ line, where: `${file}, line ${index + 1}` }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, where }) => ({ where, row: toRow(toFields(line, where), where) }));
  if (rows.length === 0) throw new UsageError(`${file} has no task.`);
  const seen = new Set<string>();
  for (const { where, row } of rows) {
    if (seen.has(row.taskId)) throw new UsageError(`${where}: there is already a task ${row.taskId}.`);
    seen.add(row.taskId);
  }
  return rows.map(({ row }) => row);
}

function toFields(line: string, where: string): JsonObject {
  const fields = readObject(line);
  if (fields) return fields;
  throw new UsageError(`${where}: a line is one JSON object.`);
}

function toRow(fields: JsonObject, where: string): DatasetRow {
  const text = (names: readonly string[]) => findText(fields, names, where);
  const requireText = (names: readonly string[]) => {
    const found = text(names);
    if (found === null || found.trim() === '') throw new UsageError(`${where}: ${names[0]} is missing.`);
    return found;
  };
  const scorer = text(['scorer']);
  if (scorer !== null && !isScorer(scorer))
    throw new UsageError(`${where}: scorer is one of ${scorers.join(', ')}, not ${scorer}.`);
  const answer = scorer === 'json_schema' ? findSchema(fields['answer'], where) : text(['answer', 'Final answer']);
  if (answer !== null) checkAnswer(answer, scorer, where);
  return {
    taskId: requireText(['task_id', 'id']),
    question: requireText(['question', 'Question']),
    trueAnswer: answer === '?' ? null : answer, // what GAIA's test split says instead
    level: text(['level', 'Level']),
    fileName: findFileName(text(['file_name', 'file']), where),
    scorer,
    tolerance: findTolerance(fields['tolerance'], where),
  };
}

/** The first of these fields that has a value. */
function findText(fields: JsonObject, names: readonly string[], where: string): string | null {
  for (const name of names) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    throw new UsageError(`${where}: ${name} is a text or a number.`);
  }
  return null;
}

/** A dataset from elsewhere must not name files outside its folder. */
function findFileName(name: string | null, where: string): string | null {
  if (name === null || name === '') return null;
  const parts = name.split(/[/\\]/);
  if (parts.includes('..') || parts[0] === '' || name.includes('\0'))
    throw new UsageError(`${where}: file_name is a path below the dataset, not ${name}.`);
  return name;
}

function findTolerance(value: unknown, where: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value;
  throw new UsageError(`${where}: tolerance is a number that is not negative.`);
}

/** A schema is an object, or JSON in a text. */
function findSchema(answer: unknown, where: string): string | null {
  if (answer === undefined || answer === null) return null;
  if (typeof answer === 'string') return answer;
  if (typeof answer === 'object' || typeof answer === 'boolean') return JSON.stringify(answer);
  throw new UsageError(`${where}: answer is a JSON Schema where the scorer is json_schema.`);
}

function checkAnswer(answer: string, scorer: Scorer | null, where: string): void {
  try {
    if (scorer === 'regex') new RegExp(answer, 'u');
    if (scorer === 'json_schema') compileSchema(answer);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const form = scorer === 'regex' ? 'pattern' : 'JSON Schema';
    throw new UsageError(`${where}: answer is no ${form}: ${error.message}`);
  }
}
