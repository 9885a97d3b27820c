import type { StoredAccountSettings } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { AgentTabs } from './agent-tabs.tsx';
import { DefinitionEditor } from './definition-editor.tsx';
import { SettingsForm } from './settings-form.tsx';

/** What the account keeps for all of its runs. */
export function SettingsPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({ queryKey: ['settings'], queryFn: () => rondo.settings() });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Account settings</h1>
        <AgentTabs />
      </div>
      {data ? <Settings key={data.updated_at} stored={data} /> : <Loading what="the settings" />}
    </>
  );
}

function Settings({ stored: { settings, updated_at: updatedAt } }: { readonly stored: StoredAccountSettings }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const now = useNow();
  const [draft, setDraft] = useState(settings);
  const save = async () => {
    await rondo.setSettings({ settings: draft });
    await refreshKey(['settings']);
  };
  return (
    <div className="settings">
      <p className="hint">
        A new run takes these where neither it nor its agent says otherwise.{' '}
        {updatedAt === null ? 'None were ever stored.' : `Changed ${age(updatedAt, now)}.`}
      </p>
      <DefinitionEditor
        definition={draft}
        onChange={setDraft}
        form={<SettingsForm settings={draft} onChange={setDraft} />}
        save={save}
        saveWords="Save"
        isChanged={mayWrite && JSON.stringify(draft) !== JSON.stringify(settings)}
      />
    </div>
  );
}
