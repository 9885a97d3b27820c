import type { ToolCallRow } from '@rondo/client';
import type { Step } from '../turns';
import { toFileChange } from './file-change';

const step = (name: string, args: Record<string, unknown>, status: ToolCallRow['status'] = 'completed'): Step =>
  ({ runId: 'run_1', screen: null, plan: [], row: { name, status, arguments: args, result: null } }) as unknown as Step;
const create = step('create_file', { file_path: '/workspace/a.txt', file_contents: 'one\ntwo\n' });
const replace = step('str_replace', { file_path: 'a.txt', old_str: 'two', new_str: '$& three' });

describe('what a call did to a file', () => {
  it('a new file has no text before', () => {
    expect(toFileChange([create])).toEqual({ path: 'a.txt', before: null, after: 'one\ntwo\n', isPart: false });
  });

  it('a change has the whole text, as earlier calls have made it', () => {
    const after = 'one\n$& three\n';
    expect(toFileChange([create, replace])).toEqual({ path: 'a.txt', before: 'one\ntwo\n', after, isPart: false });
    const rewrite = step('full_file_rewrite', { file_path: './a.txt', file_contents: 'new' });
    expect(toFileChange([create, replace, rewrite])).toMatchObject({ before: after, after: 'new' });
  });

  it('only the exchanged part is known of a file that was not written here, or whose writing failed', () => {
    const part = { path: 'a.txt', before: 'two', after: '$& three', isPart: true };
    expect(toFileChange([replace])).toEqual(part);
    const failed = { ...create, row: { ...create.row, status: 'failed' as const } };
    expect(toFileChange([failed, replace])).toEqual(part);
  });

  it('a file that was read has no text afterwards, and other calls are about no file', () => {
    expect(toFileChange([step('read_file', { file_path: 'a.txt' })])).toMatchObject({ after: null });
    expect(toFileChange([create, step('bash', { command: 'ls' })])).toBeUndefined();
  });
});
