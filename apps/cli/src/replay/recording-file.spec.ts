import { ScriptedModel, calls, says } from '@rondo/domain/testing';
import { linesOfRecording, readRecording } from './recording-file';
import { recordedRun } from './testing/recorded-run';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const recorded = () => recordedRun({ model: new ScriptedModel([calls(read), calls(read), says('Done.')]) });

describe('the file of a recording', () => {
  it('is read as it was written', async () => {
    const recording = await recorded();

    const text = linesOfRecording(recording)
      .map((line) => `${line}\n`)
      .join('');

    expect(JSON.parse(JSON.stringify(readRecording(text, 'a.jsonl')))).toEqual(JSON.parse(JSON.stringify(recording)));
  });

  it('repeats no message of the conversation', async () => {
    const lines = linesOfRecording(await recorded()).filter((line) => line.startsWith('{"request"'));

    expect(lines.map((line) => (JSON.parse(line) as Line).request)).toMatchObject([
      { same_messages: 0, messages: [{ role: 'user' }], system: expect.any(String) },
      { same_messages: 1, messages: [{ role: 'assistant' }, { role: 'tool' }] },
      { same_messages: 3, messages: [{ role: 'assistant' }, { role: 'tool' }] },
    ]);
    expect(lines[1]).not.toContain('"system"');
  });

  const changed = async (change: (lines: string[]) => string[]): Promise<string> =>
    change(linesOfRecording(await recorded())).join('\n');

  it.each([
    [
      'another version',
      (lines: string[]) => [(lines[0] ?? '').replace('"rondo_recording":1', '"rondo_recording":2'), ...lines.slice(1)],
      'a.jsonl, line 1: rondo_recording is 2; this rondo reads version 1',
    ],
    ['no recording', () => ['{"task_id":"a"}'], 'a.jsonl, line 1: rondo_recording is missing'],
    ['no JSON', (lines: string[]) => [...lines.slice(0, 2), '{"fact":'], 'a.jsonl, line 3 is not JSON'],
    [
      'a wrong setting',
      (lines: string[]) => [(lines[0] ?? '').replace('"max_iterations":100', '"max_iterations":0'), ...lines.slice(1)],
      'a.jsonl, line 1: run.settings.limits.max_iterations: ',
    ],
    [
      'a wrong fact',
      (lines: string[]) => [
        ...lines.slice(0, 2),
        (lines[2] ?? '').replace('"content":[', '"content":[{"type":"text"},'),
        ...lines.slice(3),
      ],
      'a.jsonl, line 3: fact.data.message.content.0.text: ',
    ],
    ['a line that was cut away', (lines: string[]) => lines.slice(0, -1), 'it is not whole'],
    [
      'a fact that was taken out',
      (lines: string[]) => [
        (lines[0] ?? '').replace(/"lines":(\d+)/, (_, n) => `"lines":${Number(n) - 1}`),
        lines[1] ?? '',
        ...lines.slice(3),
      ],
      'a.jsonl: fact 2 is missing',
    ],
  ])('is refused with %s', async (_, change, problem) => {
    const text = await changed(change);

    expect(() => readRecording(text, 'a.jsonl')).toThrow(problem);
  });
});

interface Line {
  readonly request: object;
}
