import type { NewRun } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi, useLocation, useNavigate } from '@tanstack/react-router';
import { useId, useRef, useState } from 'react';
import { gatewayUrl } from '../gateway-url.ts';
import { useRondo } from '../session/use-session.ts';
import { WorkButton } from '../ui/action.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { FailurePage, Loading } from '../ui/states.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { problemText } from '../ui/problem-text.ts';
import { RefusalsContext, useFieldWork } from '../ui/refusals.ts';
import { TolerantForm } from '../ui/tolerant-form.tsx';
import { useUnsaved } from '../ui/unsaved.tsx';
import { KnownModels } from './known-models.tsx';
import { NewRunForm } from './new-run-form.tsx';
import { parseRequest, readRequest, toClientCode, toCurl } from './run-request.ts';

const route = getRouteApi('/runs/new');
const places = { codes: { agent_not_found: 'agent_id', model_not_allowed: 'model' } };

/** A run with any request: empty, with an input that another page has prepared, or that of another run, with changes. */
export function NewRunPage() {
  const { from } = route.useSearch();
  const { input } = useLocation().state;
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['request of', from, input],
    queryFn: () => (from === undefined ? (input === undefined ? {} : { input }) : readRequest(rondo, from)),
    staleTime: Infinity,
    gcTime: 0,
  });
  if (error) return <FailurePage error={error} list={{ to: '/runs', name: 'All runs' }} />;
  return data ? <OneRequest key={from} given={data} from={from} /> : <Loading what="the request" />;
}

interface OneRequestProps {
  readonly given: NewRun;
  /** The run that begins again. */
  readonly from: string | undefined;
}

function OneRequest({ given, from }: OneRequestProps) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const [request, setRequest] = useState(given);
  const form = useRef<HTMLElement>(null);
  const { isBusy, refusals, problem, start: attempt } = useFieldWork(form, places);
  useUnsaved(request !== given && !isBusy);
  const start = async () => {
    const { id } = await rondo.runs.create(request);
    await navigate({ to: '/runs/$runId', params: { runId: id }, search: {} });
  };
  return (
    <>
      <ItemHead list={{ to: '/runs', name: 'Runs' }} crumb="new" title={from === undefined ? 'New run' : 'Run again'} />
      {from !== undefined && (
        <p className="hint">
          The input and settings of{' '}
          <Link to="/runs/$runId" params={{ runId: from }} search={{}}>
            another run
          </Link>
          . It begins on a thread of its own, and files are not attached again.
        </p>
      )}
      <div className="new-run">
        <section ref={form} aria-label="Form">
          <TolerantForm whole={request}>
            <RefusalsContext value={refusals}>
              <NewRunForm request={request} onChange={setRequest} />
            </RefusalsContext>
          </TolerantForm>
          <KnownModels />
          <div className="actions">
            <WorkButton className="primary" {...{ isBusy, problem, start: () => void attempt(start) }}>
              Start the run
            </WorkButton>
          </div>
        </section>
        <RequestText request={request} onChange={setRequest} isBusy={isBusy} />
      </div>
    </>
  );
}

const forms = [
  ['json', 'JSON'],
  ['curl', 'As curl'],
  ['client', 'As client code'],
] as const;
type TextForm = (typeof forms)[number][0];

interface RequestTextProps {
  readonly request: NewRun;
  readonly onChange: (request: NewRun) => void;
}

/** The same request as text. */
function RequestText({ request, onChange, isBusy }: RequestTextProps & { readonly isBusy: boolean }) {
  const [form, setForm] = useState<TextForm>('json');
  const json = useRequestJson({ request, onChange });
  useUnsaved(json.problem !== null && !isBusy);
  return (
    <section aria-label="The request">
      <div className="choice" role="group" aria-label="Show the request as">
        {forms.map(([name, words]) => (
          <button key={name} aria-pressed={name === form} onClick={() => setForm(name)}>
            {words}
          </button>
        ))}
      </div>
      {form === 'json' && <RequestJson {...json} />}
      {form === 'curl' && <Code text={toCurl(request, gatewayUrl())} what="the command" />}
      {form === 'client' && <Code text={toClientCode(request, gatewayUrl())} what="the program" />}
    </section>
  );
}

function Code({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <div className="request-code">
      <CopyButton text={text} what={what} />
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
    </div>
  );
}

/** What is typed stays as it is while it is the request, or no JSON yet; a change of the form replaces it. */
function useRequestJson({ request, onChange }: RequestTextProps) {
  const [typed, setTyped] = useState<{ readonly text: string; readonly request: NewRun } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const isTyped = typed !== null && typed.request === request;
  const edit = (text: string) => {
    try {
      const parsed = parseRequest(text);
      setTyped({ text, request: parsed });
      setProblem(null);
      onChange(parsed);
    } catch (error) {
      setTyped({ text, request });
      setProblem(problemText(error));
    }
  };
  return {
    text: isTyped ? typed.text : JSON.stringify(request, null, 2),
    edit,
    problem: isTyped ? problem : null,
  };
}

function RequestJson({ text, edit, problem }: ReturnType<typeof useRequestJson>) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="unseen">
        The request, as JSON
      </label>
      <textarea
        id={id}
        dir="auto"
        className="code"
        rows={24}
        spellCheck={false}
        value={text}
        aria-invalid={problem !== null}
        onChange={({ currentTarget }) => edit(currentTarget.value)}
      />
      {problem !== null && (
        <p className="problem" role="alert">
          {problem} The run would start with what was there before.
        </p>
      )}
    </>
  );
}
