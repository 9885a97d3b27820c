import type { Waiting } from '@rondo/client';
import { type KeyboardEvent, type SubmitEvent, useId, useState } from 'react';
import { OpenBrowser } from '../browser/open-browser.tsx';
import { ApprovalCards } from './approval-card.tsx';
import { UnknownCalls } from './unknown-calls.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { moment } from '../ui/amounts.ts';
import { useProblem } from '../ui/problem-text.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { useUnsaved } from '../ui/unsaved.tsx';
import { BudgetForm } from './budget-form.tsx';
import { ElicitationForm } from './elicitation-form.tsx';

interface AnswerBoxProps {
  readonly runId: string;
  readonly waiting: Waiting;
  /** The thread whose browser the run has used, if it has: the question may be about it. */
  readonly browserThreadId?: string | undefined;
}

/** What the run waits for, and the place to answer. For other runs and for its caller it waits without the help of a person. */
export function AnswerBox({ runId, waiting, browserThreadId }: AnswerBoxProps) {
  if (waiting.reason === 'child_runs') return null;
  if (waiting.reason === 'caller_tools') return <CallerCalls calls={waiting.tool_calls ?? []} />;
  return (
    <section className="answer" aria-label={labels[waiting.reason]}>
      <Decision runId={runId} waiting={waiting} browserThreadId={browserThreadId} />
    </section>
  );
}

type PersonsReason = Exclude<Waiting['reason'], 'child_runs' | 'caller_tools'>;

const labels: Record<PersonsReason, string> = {
  ask: 'The run asks you',
  approval: 'The run waits for your decision',
  budget: 'The run waits for a higher budget',
  tool_unknown: 'The run waits for your decision',
  elicitation: 'An MCP server asks you',
};

function Decision({ runId, waiting, browserThreadId }: AnswerBoxProps) {
  const rondo = useRondo();
  switch (waiting.reason) {
    case 'ask':
      return (
        <>
          <Markdown text={waiting.question?.text ?? 'The run waits for an answer.'} />
          {browserThreadId !== undefined && (
            <OpenBrowser threadId={browserThreadId} isFree done={() => rondo.runs.answer(runId, 'Done.')} />
          )}
          <AnswerForm key={waiting.question?.tool_call_id} runId={runId} />
        </>
      );
    case 'approval':
      return <ApprovalCards ids={(waiting.approvals ?? []).map(({ approval_id: id }) => id)} />;
    case 'budget':
      return <BudgetForm runId={runId} budget={waiting.budget} />;
    case 'tool_unknown':
      return <UnknownCalls runId={runId} />;
    case 'elicitation':
      return (waiting.elicitations ?? []).map((asked) => (
        <ElicitationForm key={`${asked.tool_call_id} ${asked.key}`} asked={asked} />
      ));
    case 'child_runs':
    case 'caller_tools':
      return null;
  }
}

/** The calls that the program which offers their tools must answer, and until when. */
function CallerCalls({ calls }: { readonly calls: NonNullable<Waiting['tool_calls']> }) {
  return (
    <section className="answer" aria-label="The run waits for its caller">
      <p>The program that offers these tools has to send their results:</p>
      <ul>
        {calls.map(({ tool_call_id: id, name, expires_at }) => (
          <li key={id}>
            <code>{name}</code>, until {moment(expires_at)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Offered only to those whose answer is accepted. It is for one question: the next one has another. */
export function AnswerForm({ runId }: { readonly runId: string }) {
  return useMay('write') ? <Answer runId={runId} /> : null;
}

const words = { written: 'Answer', sending: 'Sending …', sent: 'Sent' };

function Answer({ runId }: { readonly runId: string }) {
  const rondo = useRondo();
  const field = useId();
  const [text, setText] = useState('');
  const [state, setState] = useState<'written' | 'sending' | 'sent'>('written');
  const [problem, setProblem] = useProblem();
  const refreshKey = useRefreshKey();
  useUnsaved(state === 'written' && text.trim() !== '');

  const send = () => {
    if (state !== 'written' || text.trim() === '') return;
    setState('sending');
    setProblem(null);
    rondo.runs.answer(runId, text).then(
      () => {
        setState('sent');
        void refreshKey(['inbox']);
      },
      (error: unknown) => {
        setState('written');
        setProblem(error);
      },
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
    <form className="answer-form" onSubmit={submit}>
      <label htmlFor={field}>Your answer</label>
      <textarea
        dir="auto"
        id={field}
        rows={2}
        readOnly={state !== 'written'}
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
        onKeyDown={sendByKey}
      />
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <button className="primary" disabled={text.trim() === ''} aria-disabled={state !== 'written'}>
        {words[state]}
      </button>
    </form>
  );
}
