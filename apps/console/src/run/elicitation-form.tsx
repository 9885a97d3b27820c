import type { Elicitation, FormField, InputAnswer } from '@rondo/client';
import { type SubmitEvent, useId, useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';

type Content = NonNullable<InputAnswer['content']>;

/** What an MCP server asks a person: its name stands before its words, which are not trusted. A page is opened by the person only. */
export function ElicitationForm({ asked }: { readonly asked: Elicitation }) {
  const mayAnswer = useMay('write');
  return (
    <article className="elicitation">
      <p>
        The MCP server <b>{asked.server}</b> asks during a call of <code>{asked.name}</code>. Give it no password:
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
      <p className="quiet">It is cancelled at {new Date(asked.expires_at).toLocaleString()}.</p>
    </article>
  );
}

function Answer({ asked }: { readonly asked: Elicitation }) {
  const rondo = useRondo();
  const [state, setState] = useState<{ isBusy: boolean; problem: string | null }>({ isBusy: false, problem: null });

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
    <form onSubmit={submit}>
      {Object.entries(asked.fields ?? {}).map(([name, field]) => (
        <Field key={name} name={name} field={field} />
      ))}
      {state.problem !== null && <p role="alert">{state.problem}</p>}
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
  const id = useId();
  const { type, title = name, description, options, required, format = '' } = field;
  const given = field.default;
  const about = { id, name, required: required && type !== 'boolean' };
  return (
    <p>
      <label htmlFor={id}>{title}</label>
      {description !== undefined && <small dir="auto"> {description}</small>}{' '}
      {options ? (
        <select {...about} multiple={type === 'array'} defaultValue={typeof given === 'boolean' ? undefined : given}>
          {type !== 'array' && <option value="">–</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.title ?? option.value}
            </option>
          ))}
        </select>
      ) : type === 'boolean' ? (
        <input {...about} type="checkbox" defaultChecked={given === true} />
      ) : (
        <input
          {...about}
          dir="auto"
          type={type === 'string' ? (inputTypes[format] ?? 'text') : 'number'}
          step={type === 'integer' ? 1 : 'any'}
          defaultValue={typeof given === 'string' || typeof given === 'number' ? given : undefined}
        />
      )}
    </p>
  );
}
