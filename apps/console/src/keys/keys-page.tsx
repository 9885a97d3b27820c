import { type ApiKey, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo, useSession } from '../session/use-session.ts';
import { age, moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { AccessTabs } from './access-tabs.tsx';
import { AccountsSection } from './accounts-section.tsx';
import { NewKey } from './new-key.tsx';
import { SessionsSection } from './sessions-section.tsx';

/** The API keys of the account, for its admins. */
export function KeysPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['keys'],
    queryFn: () => take(rondo.apiKeys.list({ limit: 100 }), 300),
  });
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Keys</h1>
        <AccessTabs />
      </div>
      <NewKey />
      {data ? <KeyTable keys={data.items} /> : <Loading what="keys" />}
      <SessionsSection keyNames={new Map(data?.items.map(({ id, name }) => [id, name]))} />
      <AccountsSection />
    </>
  );
}

function KeyTable({ keys }: { readonly keys: readonly ApiKey[] }) {
  return (
    <Table label="API keys" columns={['Name', 'Key', 'May', 'Created', 'Last used', 'Expires']} hasActions>
      {keys.map((key) => (
        <KeyRow key={key.id} apiKey={key} />
      ))}
    </Table>
  );
}

function KeyRow({
  apiKey: { id, name, hint, scopes, created_at: at, revoked_at: revokedAt, ...times },
}: {
  readonly apiKey: ApiKey;
}) {
  const { rondo, who } = useSession();
  const refreshKey = useRefreshKey();
  const now = useNow();
  const isOwn = who.caller_id === id;
  const revoke = async () => {
    await rondo.apiKeys.revoke(id);
    await refreshKey(['keys']);
  };
  const question = isOwn
    ? `Revoke “${name}”? This browser is signed in with it, and will be signed out.`
    : `Revoke “${name}”? What uses it is refused at once, and its open connections are closed.`;
  return (
    <tr className={revokedAt === null ? undefined : 'past'}>
      <td>
        {name}
        {isOwn && <span className="tag">this browser</span>}
      </td>
      <td>
        <code>…{hint}</code>
      </td>
      <td>{scopes.join(', ')}</td>
      <td className="nowrap" title={new Date(at).toLocaleString()}>
        {age(at, now)}
      </td>
      <td className="nowrap">{times.last_used_at === null ? 'never' : age(times.last_used_at, now)}</td>
      <td className="nowrap">{times.expires_at === null ? 'never' : moment(times.expires_at)}</td>
      <td className="number">
        {revokedAt === null ? (
          <ConfirmedAction name="Revoke" label={`Revoke ${name}`} question={question} work={revoke} />
        ) : (
          `revoked ${age(revokedAt, now)}`
        )}
      </td>
    </tr>
  );
}
