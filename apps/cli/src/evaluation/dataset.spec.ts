import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDataset, readDataset, selectTasks } from './dataset';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rondo-dataset-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const parse = (...lines: unknown[]) => parseDataset(lines.map((line) => JSON.stringify(line)).join('\n'), 'd.jsonl');
const task = { task_id: 'a', question: 'Why?' };

describe('a dataset', () => {
  it('has the fields of GAIA, or plain ones', () => {
    const gaia = { task_id: 'b', Question: 'How?', Level: 2, 'Final answer': '?', file_name: '' };

    expect(parse({ ...task, answer: 4, tolerance: 0.5, scorer: 'number' }, gaia)).toEqual([
      { taskId: 'a', question: 'Why?', trueAnswer: '4', level: null, fileName: null, scorer: 'number', tolerance: 0.5 },
      { taskId: 'b', question: 'How?', trueAnswer: null, level: '2', fileName: null, scorer: null, tolerance: null },
    ]);
  });

  it('is read as programs of Windows write it', () => {
    const lines = `\uFEFF${JSON.stringify(task)}\r\n${JSON.stringify({ ...task, task_id: 'b' })}\r\n`;

    expect(parseDataset(lines, 'd.jsonl').map(({ taskId }) => taskId)).toEqual(['a', 'b']);
  });

  it.each([
    [[task, { question: 'How?' }], 'd.jsonl, line 2: task_id is missing.'],
    [[{ ...task, question: ' ' }], 'd.jsonl, line 1: question is missing.'],
    [[task, task], 'd.jsonl, line 2: there is already a task a.'],
    [
      [{ ...task, scorer: 'fuzzy' }],
      'd.jsonl, line 1: scorer is one of gaia, exact, number, regex, json_schema, judge, not fuzzy.',
    ],
    [[{ ...task, tolerance: -1 }], 'd.jsonl, line 1: tolerance is a number that is not negative.'],
    [[{ ...task, file_name: '../key' }], 'd.jsonl, line 1: file_name is a path below the dataset, not ../key.'],
    [[{ ...task, answer: {} }], 'd.jsonl, line 1: answer is a text or a number.'],
    [[{ ...task, scorer: 'regex', answer: '(' }], 'd.jsonl, line 1: answer is no pattern'],
    [[{ ...task, scorer: 'json_schema', answer: { type: 'objekt' } }], 'd.jsonl, line 1: answer is no JSON Schema'],
    [[{ ...task, scorer: 'json_schema', answer: { tpye: 'object' } }], 'd.jsonl, line 1: answer is no JSON Schema'],
    [[{ ...task, scorer: 'json_schema', answer: { pattern: '(' } }], 'd.jsonl, line 1: answer is no JSON Schema'],
    [[{ ...task, scorer: 'json_schema', answer: 4 }], 'd.jsonl, line 1: answer is a JSON Schema where'],
    [[[]], 'd.jsonl, line 1: a line is one JSON object.'],
    [[], 'd.jsonl has no task.'],
  ])('says what is wrong with %j', (lines, message) => {
    expect(() => parse(...lines)).toThrow(message);
  });

  it('is a folder as GAIA has it, with the file of a task and its picture', () => {
    const split = join(folder, '2023/validation');
    mkdirSync(split, { recursive: true });
    for (const name of ['x.xlsx', 'x.png']) writeFileSync(join(split, name), name);
    writeFileSync(join(split, 'metadata.jsonl'), JSON.stringify({ ...task, file_name: 'x.xlsx' }));

    expect(readDataset(folder, 'validation')).toMatchObject([{ files: [join(split, 'x.xlsx'), join(split, 'x.png')] }]);
    expect(() => readDataset(folder, 'test')).toThrow('There is no dataset');
  });

  it('has no files that are missing, or links to elsewhere', () => {
    const file = join(folder, 'd.jsonl');
    writeFileSync(file, JSON.stringify({ ...task, file_name: 'secret' }));
    expect(() => readDataset(file, 'validation')).toThrow('The file of task a is missing');

    symlinkSync('/etc/passwd', join(folder, 'secret'));
    expect(() => readDataset(file, 'validation')).toThrow('is a link out of the dataset');
  });

  it('has ranges and ids', () => {
    writeFileSync(
      join(folder, 'd.jsonl'),
      ['a', 'b', 'c'].map((id) => JSON.stringify({ ...task, id, task_id: id })).join('\n'),
    );
    const tasks = readDataset(join(folder, 'd.jsonl'), 'validation');
    const ids = (start: number | undefined, end: number | undefined, taskIds: string[] = []) =>
      selectTasks(tasks, { start, end, taskIds }).map(({ taskId }) => taskId);

    expect(ids(1, undefined)).toEqual(['b', 'c']);
    expect(ids(0, 2)).toEqual(['a', 'b']);
    expect(ids(undefined, undefined, ['c'])).toEqual(['c']);
    for (const [start, end] of [
      [-1, 2],
      [0, 4],
      [2, 2],
    ])
      expect(() => ids(start, end)).toThrow('Invalid range');
    expect(() => ids(undefined, undefined, ['x'])).toThrow('The dataset has no task x.');
  });
});
