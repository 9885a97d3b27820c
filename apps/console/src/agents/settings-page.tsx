import type { NewAccountSettings, StoredAccountSettings } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Form, toText } from '../ui/form.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { AgentTabs } from './agent-tabs.tsx';
import { parseJson } from './definition-text.ts';

/** What the account keeps for all of its runs. */
export function SettingsPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({ queryKey: ['settings'], queryFn: () => rondo.settings() });
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Account settings</h1>
        <AgentTabs />
      </div>
      {data ? (
        <SettingsForm key={data.updated_at} settings={data.settings} updatedAt={data.updated_at} />
      ) : (
        <Loading what="the settings" />
      )}
    </>
  );
}

interface SettingsFormProps {
  readonly settings: StoredAccountSettings['settings'];
  readonly updatedAt: string | null;
}

function SettingsForm({ settings, updatedAt }: SettingsFormProps) {
  const id = useId();
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const now = useNow();
  const save = async (fields: FormData) => {
    const changed = parseJson(toText(fields, 'settings')) as NewAccountSettings['settings']; // the gateway refuses what is none, with the field
    await rondo.setSettings({ settings: changed });
    await refreshKey(['settings']);
  };
  const fields = (
    <>
      <label htmlFor={id}>Settings, as JSON</label>
      <textarea
        id={id}
        className="code"
        dir="auto"
        name="settings"
        rows={16}
        spellCheck={false}
        readOnly={!mayWrite}
        defaultValue={JSON.stringify(settings, null, 2)}
      />
      <p className="hint">
        A new run takes these where neither it nor its agent says otherwise: profile, model, tools, limits and others.{' '}
        {updatedAt === null ? 'None were ever stored.' : `Changed ${age(updatedAt, now)}.`}
      </p>
    </>
  );
  if (!mayWrite) return <section className="card">{fields}</section>;
  return (
    <section className="card">
      <Form work={save} button="Save" label="Account settings">
        {fields}
      </Form>
    </section>
  );
}
