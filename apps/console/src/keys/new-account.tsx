import type { AccountWithKey } from '@rondo/client';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, textOf } from '../ui/form.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';

/** Another account, for those who operate the deployment. The gateway refuses others. */
export function NewAccount() {
  const rondo = useRondo();
  const [created, setCreated] = useState<AccountWithKey | null>(null);
  const create = async (fields: FormData) => setCreated(await rondo.createAccount(textOf(fields, 'name')));
  return (
    <section className="section">
      <h2>Accounts</h2>
      <p className="hint">
        An account has runs, agents, keys and usage of its own. Creating one needs an admin key of the account that
        operates this deployment.
      </p>
      {created ? (
        <SecretOnce
          name={`The admin key of “${created.account.name}” (${created.account.id})`}
          secret={created.api_key}
          close={() => setCreated(null)}
        />
      ) : (
        <Form work={create} button="Create account" label="New account">
          <TextField label="Name of the account" name="name" required maxLength={200} />
        </Form>
      )}
    </section>
  );
}
