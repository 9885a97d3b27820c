import { Rondo } from '@rondo/client';
import { Chat } from '@rondo/react';
import '@rondo/react/styles.css';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

async function askForToken() {
  const response = await fetch('/token', { method: 'POST' });
  if (!response.ok) throw new Error('The server of this page gives no token.');
  const { token, expires_in } = await response.json();
  return { token, renewedAt: Date.now() + expires_in * 900 };
}

/** A client token of the server, which is replaced before it ends. */
let given = Promise.resolve({ renewedAt: 0 });
function readToken() {
  given = given.catch(() => ({ renewedAt: 0 })).then((known) => (known.renewedAt > Date.now() ? known : askForToken()));
  return given.then(({ token }) => token);
}

const rondo = new Rondo({ baseUrl: RONDO_URL, apiKey: readToken });

/** What this page does for the tools that agent.mjs describes. */
const tools = {
  get_local_time: {
    handler: () => ({ time: new Date().toString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
  },
  save_note: {
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
      <Chat rondo={rondo} threadId={threadId} tools={tools} onThread={open}>
        <p>What should the agent do?</p>
      </Chat>
    </main>
  );
}

createRoot(document.getElementById('app')).render(<App />);
