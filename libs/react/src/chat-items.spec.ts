import type { MessageRow, RunRow, ToolCallRow } from '@rondo/client';
import { readFollowUps, toChatItems } from './chat-items.ts';

const call = (id: string, about: Partial<ToolCallRow> = {}): ToolCallRow => ({
  ...{ kind: 'tool_call', id, iteration: 1, name: 'execute_command', status: 'completed', argumentsText: '{}' },
  ...{
    programCallId: null,
    arguments: {},
    replacedArguments: null,
    approval: null,
    startedAt: null,
    attempt: 1,
    output: '',
  },
  ...{ result: { success: true, output: '' }, durationMs: 5, reason: null },
  ...about,
});
const message = (id: string, about: Partial<MessageRow> = {}): MessageRow => ({
  ...{ kind: 'message', id, iteration: 1, role: 'assistant', text: '', reasoning: '', isOpen: false, message: null },
  ...about,
});
const readItems = (...rows: RunRow[]) => toChatItems([{ runId: 'run_1', rows }]);
const kinds = (...rows: RunRow[]) => readItems(...rows).map(({ kind }) => kind);

describe('the items of a conversation', () => {
  it('successful calls in a row are one group, with the thoughts between them, until something is said', () => {
    const items = readItems(
      message('question', { role: 'user', text: 'Do it.' }),
      message('wordless'),
      call('one'),
      message('thought', { reasoning: 'Hm.' }),
      call('two'),
      message('said', { text: 'Half of it is done.' }),
      call('three'),
    );

    expect(items.map(({ kind }) => kind)).toEqual(['message', 'work', 'message', 'work']);
    expect(items[1]).toMatchObject({ rows: [{ id: 'one' }, { id: 'thought' }, { id: 'two' }] });
  });

  it('keeps a failed call, one of unknown outcome and one that a person decides about out of the groups', () => {
    const approval = { id: 'apr_1', requestedAt: '', expiresAt: '', decision: null };
    const wrong = { success: false, output: '', error: 'no' };

    expect(
      kinds(
        call('fine'),
        call('failed', { status: 'failed', result: wrong }),
        call('not known', { status: 'unknown', result: null }),
        call('asked', { status: 'planned', approval, result: null }),
        call('goes on', { status: 'dispatched', result: null }),
      ),
    ).toEqual(['work', 'call', 'call', 'call', 'work']);
  });

  it('what the agent says in a call is speech, and a site that it has published is a link', () => {
    const published = { success: true, output: '{"url": "https://garden.example", "name": "garden"}' };
    const items = readItems(
      call('site', { name: 'deploy', result: published }),
      call('end', { name: 'complete', arguments: { text: 'It is there.', attachments: 'a.md' } }),
    );

    expect(items).toMatchObject([
      { kind: 'link', link: { url: 'https://garden.example', name: 'garden' } },
      { kind: 'speech', spoken: { text: 'It is there.', attachments: ['a.md'] } },
    ]);
  });

  it('says how a run ended that did not complete, after what it has said', () => {
    const ended = { id: 'run_1', status: 'completed', finish_reason: 'max_iterations', error: null } as const;
    const rows = [message('said', { text: 'One moment.' })];

    expect(toChatItems([{ runId: 'run_1', rows }], new Map([['run_1', ended]]))).toMatchObject([
      { kind: 'message' },
      { kind: 'ending', run: { finish_reason: 'max_iterations' } },
    ]);
  });

  it('shows neither state of the browser nor of the plan', () => {
    const plan = { metadata: { kind: 'plan_updated' } } as unknown as MessageRow['message'];

    expect(kinds(message('a', { role: 'browser_state' }), message('b', { role: 'status', message: plan }))).toEqual([]);
  });
});

it('follow-up prompts are texts, whatever the model wrote', () => {
  expect(readFollowUps({ arguments: { follow_up_prompts: ['More', 7, ''] } })).toEqual(['More']);
  expect(readFollowUps({ arguments: { follow_up_prompts: 'More' } })).toEqual([]);
  expect(readFollowUps({ arguments: null })).toEqual([]);
});
