import { UsageError } from '../command';
import { type JsonObject, readObject } from '../json-object';
import { compileSchema } from './schema-match';
import { type EvaluationTask, type Scorer, isScorer, scorers } from './task';

/** A task whose file is still a name beside the dataset. */
export interface DatasetRow extends Omit<EvaluationTask, 'files'> {
  readonly fileName: string | null;
}

/** The tasks of JSON lines. Names of fields are those of GAIA or plain ones. Errors name the line and the field. */
export function parseDataset(text: string, file: string): DatasetRow[] {
  const rows = text
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
  const required = (names: readonly string[]) => {
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
    taskId: required(['task_id', 'id']),
    question: required(['question', 'Question']),
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
