import type { Elicitation, FormField, InputAnswer } from '@rondo/client';
import { type SubmitEvent, useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { moment } from '../ui/amounts.ts';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { problemText } from '../ui/problem-text.ts';
import { useUnsaved } from '../ui/unsaved.tsx';

type Content = NonNullable<InputAnswer['content']>;

/** What an MCP server asks a person: its name stands before its words, which are not trusted. A page is opened by the person only. */
export function ElicitationForm({ asked }: { readonly asked: Elicitation }) {
  const mayAnswer = useMay('write');
  return (
    <article className="elicitation">
      <p>
        {asked.key.startsWith('rondo:') ? (
          <>
            About the MCP server <b>{asked.server}</b>:
          </>
        ) : (
          <>
            The MCP server <b>{asked.server}</b> asks during a call of <code>{asked.name}</code>. Give it no password:
          </>
        )}
      </p>
      <blockquote dir="auto">{asked.message}</blockquote>
      {asked.url !== undefined && (
        <p>
          <a href={asked.url} target="_blank" rel="noopener noreferrer nofollow">
            {asked.url}
          </a>
        </p>
      )}
      {mayAnswer && <Answer asked={asked} />}
      <p className="quiet">It is cancelled at {moment(asked.expires_at)}.</p>
    </article>
  );
}

function Answer({ asked }: { readonly asked: Elicitation }) {
  const rondo = useRondo();
  const [state, setState] = useState<{ isBusy: boolean; problem: string | null }>({ isBusy: false, problem: null });
  const [isWritten, setWritten] = useState(false);
  useUnsaved(isWritten && !state.isBusy);

  const send = (answer: InputAnswer) => {
    setState({ isBusy: true, problem: null });
    rondo.runs
      .giveInput(asked.tool_call_id, { key: asked.key, ...answer })
      .catch((error: unknown) => setState({ isBusy: false, problem: problemText(error) }));
  };
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const content = asked.fields && readContent(asked.fields, new FormData(event.currentTarget));
    send({ action: 'accept', ...(content && { content }) });
  };
  return (
    <form onSubmit={submit} onChange={() => setWritten(true)}>
      {Object.entries(asked.fields ?? {}).map(([name, field]) => (
        <Field key={name} name={name} field={field} />
      ))}
      {state.problem !== null && (
        <p className="problem" role="alert">
          {state.problem}
        </p>
      )}
      <button className="primary" disabled={state.isBusy}>
        {asked.mode === 'url' ? 'I have opened it' : 'Send'}
      </button>{' '}
      <button type="button" disabled={state.isBusy} onClick={() => send({ action: 'decline' })}>
        Decline
      </button>
    </form>
  );
}

/** Empty fields are left out; the gateway says what is needed. */
function readContent(fields: Record<string, FormField>, data: FormData): Content {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { type }]): [string, Content[string]][] => {
      const given = data.getAll(name).filter((value) => typeof value === 'string');
      const [first = ''] = given;
      if (type === 'boolean') return [[name, given.length > 0]];
      if (type === 'array') return given.length > 0 ? [[name, given]] : [];
      if (first === '') return [];
      return [[name, type === 'string' ? first : Number(first)]];
    }),
  );
}

const inputTypes: Partial<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' };

function Field({ name, field }: { readonly name: string; readonly field: FormField }) {
  const { type, title: label = name, description, options, required, format = '' } = field;
  const given = field.default;
  const hint = description === undefined ? {} : { hint: <span dir="auto">{description}</span> };
  if (options) {
    const choices = options.map(({ value, title = value }) => [value, title] as const);
    return (
      <ChoiceField
        {...{ name, label, required, ...hint }}
        multiple={type === 'array'}
        options={type === 'array' ? choices : [['', '–'], ...choices]}
        defaultValue={typeof given === 'boolean' ? undefined : given}
      />
    );
  }
  if (type === 'boolean')
    return <TextField {...{ name, label, ...hint }} type="checkbox" defaultChecked={given === true} />;
  return (
    <TextField
      {...{ name, label, required, ...hint }}
      type={type === 'string' ? (inputTypes[format] ?? 'text') : 'number'}
      step={type === 'integer' ? 1 : 'any'}
      defaultValue={typeof given === 'string' || typeof given === 'number' ? given : undefined}
    />
  );
}
