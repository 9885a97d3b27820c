import type { Waiting } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, type SubmitEvent, useId, useState } from 'react';
import { Markdown } from '../markdown/markdown.tsx';
import { useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';
import { BudgetForm } from './budget-form.tsx';

/** What the run waits for, and the place to answer. */
export function AnswerBox({ runId, waiting }: { readonly runId: string; readonly waiting: Waiting }) {
  if (waiting.reason === 'budget') {
    return (
      <section className="answer" aria-label="The run waits for a higher budget">
        <BudgetForm runId={runId} budget={waiting.budget} />
      </section>
    );
  }
  if (waiting.reason !== 'ask') {
    return (
      <section className="answer" aria-label="The run waits for you">
        <p>
          It waits for your decision. <Link to="/inbox">Decide in the inbox</Link>
        </p>
      </section>
    );
  }
  return (
    <section className="answer" aria-label="The run asks you">
      <Markdown text={waiting.question?.text ?? 'The run waits for an answer.'} />
      <AnswerForm runId={runId} />
    </section>
  );
}

export function AnswerForm({ runId }: { readonly runId: string }) {
  const rondo = useRondo();
  const field = useId();
  const [text, setText] = useState('');
  const [state, setState] = useState<{ isBusy: boolean; problem: string | null }>({ isBusy: false, problem: null });

  const send = () => {
    if (text.trim() === '') return;
    setState({ isBusy: true, problem: null });
    rondo.runs.answer(runId, text).then(
      () => setText(''),
      (error: unknown) => setState({ isBusy: false, problem: problemText(error) }),
    );
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send();
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send();
  };
  return (
    <form onSubmit={submit}>
      <label htmlFor={field}>Your answer</label>
      <textarea
        id={field}
        rows={2}
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
        onKeyDown={sendByKey}
      />
      {state.problem !== null && <p role="alert">{state.problem}</p>}
      <button className="primary" disabled={state.isBusy || text.trim() === ''}>
        {state.isBusy ? 'Sent' : 'Answer'}
      </button>
    </form>
  );
}
