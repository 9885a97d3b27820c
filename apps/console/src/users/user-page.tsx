import type { ErasedUser } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { count, moment } from '../ui/amounts.ts';
import { Action } from '../ui/action.tsx';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Figure } from '../ui/figure.tsx';
import { FailurePage, Loading } from '../ui/states.tsx';

const route = getRouteApi('/users/$user');

/** What is stored of one person of your product, and the way to erase it. */
export function UserPage() {
  const { user } = route.useParams();
  return <OneUser key={user} user={user} />;
}

function OneUser({ user }: { readonly user: string }) {
  const rondo = useRondo();
  const mayErase = useMay('admin');
  const [erased, setErased] = useState<ErasedUser | null>(null);
  const { data, error } = useQuery({
    queryKey: ['user', user],
    queryFn: () => rondo.users.get(user),
    enabled: erased === null,
  });
  if (erased) return <Report erased={erased} eraseAgain={() => rondo.users.remove(user).then(setErased)} />;
  if (error && !data) return <FailurePage error={error} list={{ to: '/usage', name: 'Usage' }} />;
  if (!data) return <Loading what="this user" />;
  return (
    <>
      <div className="page-head">
        <h1 dir="auto">{user}</h1>
        {mayErase && (
          <ConfirmedAction
            name="Erase this user"
            question={`Erase ${user}? Their tokens end, their runs are stopped, and what is in their ${threads(data)} is deleted. This cannot be undone.`}
            work={() => rondo.users.remove(user).then(setErased)}
          />
        )}
      </div>
      <Amounts amounts={data} />
      <p>
        <Link to="/threads" search={{ user }}>
          Threads
        </Link>
        {' · '}
        <Link to="/runs" search={{ user }}>
          Runs
        </Link>
        {' · '}
        <Link to="/agents/memory" search={{ user }}>
          Memory
        </Link>
      </p>
    </>
  );
}

const threads = ({ threads: all }: { readonly threads: number }) => (all === 1 ? '1 thread' : `${count(all)} threads`);

type AmountNames = 'threads' | 'runs' | 'messages' | 'tool_calls' | 'files' | 'memory_stores' | 'client_tokens';

const amountWords: readonly (readonly [AmountNames, string])[] = [
  ['threads', 'Threads'],
  ['runs', 'Runs'],
  ['messages', 'Messages'],
  ['tool_calls', 'Tool calls'],
  ['files', 'Files'],
  ['memory_stores', 'Memory stores'],
  ['client_tokens', 'Client tokens'],
];

function Amounts({ amounts }: { readonly amounts: Readonly<Record<AmountNames, number>> }) {
  return (
    <dl className="figures">
      {amountWords.map(([name, words]) => (
        <Figure key={name} name={words} value={count(amounts[name])} />
      ))}
    </dl>
  );
}

interface ReportProps {
  readonly erased: ErasedUser;
  readonly eraseAgain: () => Promise<unknown>;
}

/** What was erased. While runs still stop, the request is repeated by hand. */
function Report({ erased, eraseAgain }: ReportProps) {
  const isDone = erased.active_runs === 0;
  return (
    <>
      <div className="page-head">
        <h1>
          {isDone ? 'Erased: ' : 'Not yet erased: '}
          <span dir="auto">{erased.user}</span>
        </h1>
      </div>
      <Amounts amounts={erased} />
      {isDone ? (
        <p role="status">
          Erased at {moment(erased.erased_at)}. Usage stays without the person, and so does the entry in the audit log.
        </p>
      ) : (
        <>
          <p role="status">
            {erased.active_runs === 1
              ? 'One run has not stopped yet; its thread is still there.'
              : `${count(erased.active_runs)} runs have not stopped yet; their threads are still there.`}
          </p>
          <Action className="danger" work={eraseAgain}>
            Erase what is left
          </Action>
        </>
      )}
    </>
  );
}
