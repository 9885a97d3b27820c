import { Rondo } from '@rondo/client';
import { Chat } from '@rondo/react';
import '@rondo/react/styles.css';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

/** The server of this page adds the API key. */
const rondo = new Rondo({ baseUrl: location.origin });

/** What runs begin with: for example `agent_id`, or a budget. */
const run = RONDO_MODEL === '' ? {} : { model: RONDO_MODEL };

/** Tools that this page runs for the agent. */
const tools = {
  get_local_time: {
    description: 'The time and the time zone of the person.',
    effect_class: 'pure',
    handler: () => ({ time: new Date().toString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
  },
  save_note: {
    description: 'Keeps a note in the browser of the person.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    require_approval: true, // the person decides about each call
    handler: ({ text }) => {
      localStorage.setItem('note', String(text));
      return 'It is saved.';
    },
  },
};

function App() {
  const [threadId, setThreadId] = useState(() => new URLSearchParams(location.search).get('thread'));
  const open = (id) => {
    history.replaceState(null, '', id === null ? location.pathname : `?thread=${id}`);
    setThreadId(id);
  };
  return (
    <main>
      <header>
        <h1>Chat</h1>
        <button onClick={() => open(null)}>New chat</button>
      </header>
      <Chat rondo={rondo} threadId={threadId} run={run} tools={tools} onThread={open}>
        <p>What should the agent do?</p>
      </Chat>
    </main>
  );
}

createRoot(document.getElementById('app')).render(<App />);
