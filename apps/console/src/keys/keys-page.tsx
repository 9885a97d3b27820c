import { type ApiKey, take, type ApiKeyWithSecret, type NewApiKey } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo, useSession } from '../session/use-session.ts';
import { age, describeExpiry } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Failure, Loading, NotAll } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { AccessTabs } from '../ui/tabs.tsx';
import { AccountsSection } from './accounts-section.tsx';
import { SessionsSection } from './sessions-section.tsx';
import { useState } from 'react';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { Form, toText } from '../ui/form.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';

/** The API keys of the account, for its admins. */
export function KeysPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['keys'],
    queryFn: () => take(rondo.apiKeys.list({ limit: 100 }), 300),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Keys</h1>
        <AccessTabs />
      </div>
      <NewKey />
      {data ? <KeyTable keys={data.items} /> : <Loading what="keys" />}
      <NotAll list={data} what="keys" />
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
      <td className="nowrap">{describeExpiry(times.expires_at, now)}</td>
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

const scopes: readonly (readonly [NewApiKey['scopes'][number], string])[] = [
  ['read', 'read: see everything of the account'],
  ['write', 'write: and start runs, answer, stop'],
  ['admin', 'admin: and manage keys and accounts'],
];

/** Creates a key, and shows it once. */
export function NewKey() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [created, setCreated] = useState<ApiKeyWithSecret | null>(null);
  const create = async (fields: FormData) => {
    const scope = scopes.find(([name]) => name === toText(fields, 'scopes'))?.[0] ?? 'read';
    const expiry = toText(fields, 'expires_at');
    const expires = expiry === '' ? {} : { expires_at: new Date(expiry).toISOString() };
    setCreated(await rondo.apiKeys.create({ name: toText(fields, 'name'), scopes: [scope], ...expires }));
    await refreshKey(['keys']);
  };
  if (created)
    return <SecretOnce name={`The key “${created.name}”`} secret={created.key} close={() => setCreated(null)} />;
  return (
    <OpenedCard name="New key">
      {(close) => (
        <Form work={create} button="Create" label="New key" cancel={close}>
          <div className="fields">
            <TextField label="Name" name="name" required maxLength={200} autoFocus />
            <ChoiceField label="May" name="scopes" options={scopes} defaultValue="write" />
            <TextField
              label="Expires"
              name="expires_at"
              type="datetime-local"
              hint="From then on it is refused, and what it has signed in. Empty: it does not expire."
            />
          </div>
        </Form>
      )}
    </OpenedCard>
  );
}
