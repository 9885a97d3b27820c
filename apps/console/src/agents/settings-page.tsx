import type { StoredAccountSettings } from '@rondo/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMay, useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { AgentTabs } from '../ui/tabs.tsx';
import { BehindNotice } from './behind-notice.tsx';
import { DefinitionEditor } from './definition-editor.tsx';
import { SettingsForm } from './settings-form.tsx';
import { useDraft } from './use-draft.ts';

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
      {data ? <Settings stored={data} /> : <Loading what="the settings" />}
    </>
  );
}

function Settings({ stored: { settings, updated_at: updatedAt } }: { readonly stored: StoredAccountSettings }) {
  const rondo = useRondo();
  const queries = useQueryClient();
  const mayWrite = useMay('write');
  const now = useNow();
  const newest = { definition: settings, at: updatedAt };
  const { draft, edit, place, isChanged, isBehind, follow, begin } = useDraft(newest);
  const save = async () => {
    const current = await rondo.settings();
    queries.setQueryData(['settings'], current);
    if (current.updated_at !== updatedAt) throw new Error('Other settings were stored meanwhile.');
    const saved = await rondo.setSettings({ settings: draft });
    begin({ definition: saved.settings, at: saved.updated_at }, draft);
    queries.setQueryData(['settings'], saved);
  };
  return (
    <div className="settings">
      <p className="hint">
        A new run takes these where neither it nor its agent says otherwise.{' '}
        {updatedAt === null ? 'None were ever stored.' : `Changed ${age(updatedAt, now)}.`}
      </p>
      <DefinitionEditor
        key={place}
        definition={draft}
        onChange={edit}
        form={<SettingsForm settings={draft} onChange={edit} />}
        save={save}
        saveWords="Save"
        places={{ part: 'settings' }}
        isChanged={mayWrite && isChanged}
        isHeld={isBehind}
      >
        {isBehind && <BehindNotice follow={follow} />}
      </DefinitionEditor>
    </div>
  );
}
