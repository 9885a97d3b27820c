import type { NewMemoryStore } from '@rondo/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { useOwners } from './store-scope.tsx';

const scopes = [
  ['account', 'all runs of the account'],
  ['project', 'runs of one project'],
  ['agent', 'runs of one agent'],
  ['user', 'runs of one user'],
] as const;

const codes = {
  memory_store_name_taken: 'name',
  project_not_found: 'project_id',
  agent_not_found: 'agent_id',
};

/** Only the owner that the chosen scope has is among the fields. */
function readStore(fields: FormData): NewMemoryStore {
  const owner = (['project_id', 'agent_id', 'user'] as const).find((name) => fields.has(name));
  return {
    name: toText(fields, 'name'),
    description: toText(fields, 'description'),
    ...(owner !== undefined && { [owner]: toText(fields, owner) }),
  };
}

/** A button that becomes a form. A new store is opened. */
export function NewStore() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const create = async (fields: FormData) => {
    const { id } = await rondo.memoryStores.create(readStore(fields));
    await refreshKey(['memory stores']);
    await navigate({ to: '/agents/memory/$storeId', params: { storeId: id } });
  };
  return (
    <OpenedCard name="New store">
      {(close) => (
        <Form work={create} button="Create" label="New store" cancel={close} places={{ codes }}>
          <div className="fields">
            <TextField
              label="Name"
              name="name"
              required
              autoFocus
              spellCheck={false}
              placeholder="preferences"
              hint="Agents and runs name it so: lower-case letters, digits and hyphens."
            />
            <ScopeFields />
          </div>
          <TextField label="Description" name="description" hint="Models read it, too." />
        </Form>
      )}
    </OpenedCard>
  );
}

function ScopeFields() {
  const owners = useOwners();
  const [scope, setScope] = useState<string>('account');
  return (
    <>
      <ChoiceField
        label="Who can use it"
        value={scope}
        options={scopes}
        onChange={({ currentTarget }) => setScope(currentTarget.value)}
      />
      {scope === 'project' && (
        <ChoiceField label="Project" name="project_id" required options={[['', 'Choose one'], ...owners.projects]} />
      )}
      {scope === 'agent' && (
        <ChoiceField label="Agent" name="agent_id" required options={[['', 'Choose one'], ...owners.agents]} />
      )}
      {scope === 'user' && <TextField label="User" name="user" required spellCheck={false} />}
    </>
  );
}
