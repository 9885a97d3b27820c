import type { Message } from '@rondo/client';
import { messageRows } from '@rondo/react';
import { renderToStaticMarkup } from 'react-dom/server';
import { MessageItem } from './message-item';

const html = (metadata: Message['metadata'], text = 'Some words.') => {
  const content = [{ type: 'text', text }];
  const message = { id: 'msg_1', type: 'user', iteration: null, content, metadata } as unknown as Message; // no more is read
  return messageRows([message])
    .map((row) => row.kind === 'message' && renderToStaticMarkup(<MessageItem row={row} />))
    .join('');
};

describe('a message of a timeline', () => {
  it.each([{ kind: 'fork_note', forked_from: 'run_1' }, { file_problems: [] }])(
    'that Rondo wrote for the agent is not shown as the words of the person: %j',
    (metadata) => {
      expect(html(metadata)).toMatch(/class="message by-status" aria-label="Note to the agent".*Some words\./);
    },
  );

  it('is that of the person otherwise, also in a fork', () => {
    expect(html({ forked_from: 'run_1' })).toMatch(/class="message by-user" aria-label="You".*Some words\./);
  });

  it('says that the run has read it while it worked', () => {
    expect(html({ queued_as: 'run_2' })).toMatch(/class="message by-user".*You, while it worked.*Some words\./);
  });

  it('names the files that came with it, and not the lines that the model reads about them', () => {
    const text = 'Read these.\n\n[Uploaded File: /workspace/b>.csv]\n[Uploaded File: /workspace/c d.txt]';
    expect(html({}, text)).toMatch(
      /Read these\.<\/p><\/div><p class="hint" dir="auto">Attached: b&gt;\.csv, c d\.txt</,
    );
  });
});
