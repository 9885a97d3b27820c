import type { AccountWithKey } from '@rondo/client';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

/** Creates an account, and shows its first key once. */
export function NewAccount() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<AccountWithKey | null>(null);
  const create = async (fields: FormData) => {
    setCreated(await rondo.accounts.create(toText(fields, 'name')));
    setOpen(false);
    await refreshKey(['accounts']);
  };
  if (created)
    return (
      <SecretOnce
        name={`The admin key of “${created.account.name}” (${created.account.id})`}
        secret={created.api_key}
        close={() => setCreated(null)}
      />
    );
  if (!isOpen)
    return (
      <p className="before-table">
        <button onClick={() => setOpen(true)}>New account</button>
      </p>
    );
  return (
    <div className="card">
      <Form work={create} button="Create account" label="New account" cancel={() => setOpen(false)}>
        <TextField label="Name of the account" name="name" required maxLength={200} autoFocus />
      </Form>
    </div>
  );
}
