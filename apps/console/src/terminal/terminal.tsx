import { colouredText, plainText } from '@rondo/react';
import { type KeyboardEvent, type SubmitEvent, useEffect, useRef, useState } from 'react';
import { AnsiText } from '../ui/ansi-text.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { type TerminalEntry, type TerminalSession, useTerminalView } from './terminal-session.ts';

const shownCharacters = 60_000;

/** Where a person runs commands in a sandbox, one after the other. No terminal is emulated: what asks at one gets no answer. */
export function Terminal({ session }: { readonly session: TerminalSession }) {
  const { entries, isRunning, cwd } = useTerminalView(session);
  const screen = useRef<HTMLDivElement>(null);
  const newest = entries.at(-1);
  useEffect(() => {
    if (screen.current) screen.current.scrollTop = screen.current.scrollHeight;
  }, [newest]);
  return (
    <section className="person-terminal" aria-label="Terminal">
      <div className="terminal" ref={screen} tabIndex={0} role="log" aria-live="off" aria-label="What was printed">
        {entries.length === 0 && (
          <p className="hint">
            Commands run in the sandbox as those of the agent do, and are told to no model. Ctrl C ends one. Programs
            that ask, or draw on the screen, do not work here.
          </p>
        )}
        {entries.map((entry) => (
          <Entry key={entry.key} entry={entry} />
        ))}
      </div>
      <Prompt session={session} cwd={cwd} isRunning={isRunning} commands={entries.map(({ command }) => command)} />
      <div className="actions">
        {isRunning && (
          <button className="danger" onClick={() => session.interrupt()}>
            Stop
          </button>
        )}
        {entries.length > 0 && <CopyButton text={entries.map(toText).join('\n')} what="what was printed" />}
        {entries.length > 0 && <button onClick={() => session.clear()}>Clear</button>}
        <span className="hint" role="status">
          {isRunning ? 'Running …' : (newest?.end ?? '')}
        </span>
      </div>
    </section>
  );
}

function Entry({ entry: { command, cwd, output, end } }: { readonly entry: TerminalEntry }) {
  return (
    <pre dir="auto">
      <b>
        {shorten(cwd)}$ {plainText(command)}
      </b>
      {'\n'}
      <AnsiText text={colouredText(output.slice(-shownCharacters)).replace(/\n+$/, '')} />
      {end === null && <span className="caret" aria-hidden="true" />}
      {end !== null && end !== '' && <span className="problem">{`\n${end}`}</span>}
    </pre>
  );
}

const toText = ({ command, cwd, output, end }: TerminalEntry): string =>
  [`${shorten(cwd)}$ ${command}`, plainText(output).trimEnd(), end ?? ''].filter((line) => line !== '').join('\n');

/** Relative to the workspace; empty for itself. */
const shorten = (cwd: string): string => {
  const path = plainText(cwd).replace(/^\/workspace\/?/, '');
  return path === '' ? '' : `${path} `;
};

interface PromptProps {
  readonly session: TerminalSession;
  readonly cwd: string;
  readonly isRunning: boolean;
  /** What was run, the newest last. */
  readonly commands: readonly string[];
}

function Prompt({ session, cwd, isRunning, commands }: PromptProps) {
  const [text, setText] = useState('');
  /** How many commands back the text is from; 0 for a new one. */
  const [back, setBack] = useState(0);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isRunning || text.trim() === '') return;
    void session.run(text);
    setText('');
    setBack(0);
  };
  const goBack = (by: number) => {
    const place = Math.max(0, Math.min(commands.length, back + by));
    setBack(place);
    setText(commands.at(-place) ?? '');
    if (place === 0) setText('');
  };
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    const { selectionStart, selectionEnd } = event.currentTarget;
    const isCopy = selectionStart !== selectionEnd;
    if (event.ctrlKey && event.key === 'c' && isRunning && !isCopy) session.interrupt();
    else if (event.key === 'ArrowUp') goBack(1);
    else if (event.key === 'ArrowDown') goBack(-1);
    else return;
    event.preventDefault();
  };
  return (
    <form className="prompt" onSubmit={submit}>
      <span aria-hidden="true" title={plainText(cwd)}>
        {shorten(cwd)}$
      </span>
      <input
        aria-label="Command"
        dir="auto"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={press}
        autoFocus
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
      />
      <button className="primary" disabled={isRunning || text.trim() === ''}>
        Run
      </button>
    </form>
  );
}
