import { type MessageRow, type RunRow, Rondo } from '@rondo/client';
import { parseHTML } from 'linkedom';
import { toChatItems } from './chat-items.ts';
import { ItemList } from './items.tsx';

/** What the test uses of a DOM, which Node has not. */
const { window } = parseHTML('<html><body><div id="page"></div></body></html>');
const { document } = window;
const location = new URL('http://localhost/');
Object.assign(globalThis, { window: Object.assign(window, { location }), document, navigator: { userAgent: '' } });

const rondo = new Rondo({ baseUrl: 'http://gateway' });

const said = (id: string, text: string): MessageRow => ({
  ...{ kind: 'message', id, iteration: 1, role: 'assistant', text, reasoning: '', isOpen: true, message: null },
});
const completed: RunRow = {
  ...{ kind: 'tool_call', id: 'call_1', iteration: 1, name: 'complete', programCallId: null, status: 'completed' },
  ...{ argumentsText: '', arguments: { text: 'Done.' }, replacedArguments: null, approval: null, startedAt: null },
  ...{ attempt: 1, output: '', result: { success: true, output: '' }, durationMs: 1, reason: null },
};

describe('ItemList', () => {
  it('renders the text that has grown, and not the conversation before it', async () => {
    const { createRoot } = await import('react-dom/client'); // it looks for the window when it is loaded
    const { flushSync } = await import('react-dom');
    const root = createRoot(document.getElementById('page') as unknown as Parameters<typeof createRoot>[0]);
    const rendered: string[] = [];
    const Text = ({ text }: { readonly text: string }) => {
      rendered.push(text);
      return <p>{text}</p>;
    };
    const before = [said('msg_1', 'Hello.'), completed];
    const show = (text: string) => {
      const items = toChatItems([{ runId: 'run_1', rows: [...before, said('msg_2', text)] }]);
      flushSync(() => root.render(<ItemList rondo={rondo} items={items} parts={{ Text }} />));
      return rendered.splice(0);
    };

    expect(show('In')).toEqual(['Hello.', 'Done.', 'In']);
    expect(show('In blue.')).toEqual(['In blue.']);
    root.unmount();
  });
});
