import type { ApiKeyWithSecret, NewApiKey } from '@rondo/client';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { Form, toText } from '../ui/form.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

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
    const scope = scopes.find(([name]) => name === toText(fields, 'scope'))?.[0] ?? 'read';
    const expiry = toText(fields, 'expiry');
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
            <ChoiceField label="May" name="scope" options={scopes} defaultValue="write" />
            <TextField
              label="Expires"
              name="expiry"
              type="datetime-local"
              hint="From then on it is refused, and what it has signed in. Empty: it does not expire."
            />
          </div>
        </Form>
      )}
    </OpenedCard>
  );
}
