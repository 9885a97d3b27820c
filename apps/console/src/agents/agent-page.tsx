import { type Agent, type AgentDefinition, type AgentVersion, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { isMissing } from '../ui/problem-text.ts';
import { FailurePage, type Listed, Loading } from '../ui/states.tsx';
import { TextField } from '../ui/fields.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { BehindNotice } from './behind-notice.tsx';
import { DefinitionEditor } from './definition-editor.tsx';
import { DefinitionForm } from './definition-form.tsx';
import { AgentTriggers } from './agent-triggers.tsx';
import { AgentVersions } from './agent-versions.tsx';
import { TryAgent } from './try-agent.tsx';
import { useDraft } from './use-draft.ts';
import { Form, toText } from '../ui/form.tsx';

const route = getRouteApi('/agents/$agentId');
const places = { part: 'definition', codes: { agent_name_taken: 'name' } };

/** A stored agent: its editor, the same thing tried beside it, and its versions. */
export function AgentPage() {
  const { agentId } = route.useParams();
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['agent', agentId],
    queryFn: async () => {
      const [agent, versions] = await Promise.all([
        rondo.agents.get(agentId),
        take(rondo.agents.versions(agentId), 200),
      ]);
      return { agent, versions };
    },
  });
  if (error && !data) return <FailurePage error={error} list={{ to: '/agents', name: 'All agents' }} />;
  if (!data) return <Loading what="the agent" />;
  return (
    <>
      {isMissing(error) && (
        <p className="problem" role="alert">
          This agent was deleted. What is written here is not stored.
        </p>
      )}
      <OneAgent key={agentId} {...data} refresh={() => refetch()} />
    </>
  );
}

interface OneAgentProps {
  readonly agent: Agent;
  readonly versions: Listed<AgentVersion>;
  readonly refresh: () => Promise<unknown>;
}

function OneAgent({ agent, versions, refresh }: OneAgentProps) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const { draft, edit, place, isChanged, isBehind, follow, begin } = useDraft({
    definition: agent.definition,
    at: agent.updated_at,
  });
  const [note, setNote] = useState('');
  const [isBroken, setBroken] = useState(false);
  const save = async () => {
    const change = { definition: draft, if_version: agent.version, ...(note.trim() !== '' && { note }) };
    try {
      const { definition, updated_at: at } = await rondo.agents.update(agent.id, change);
      begin({ definition, at }, draft);
      setNote((now) => (now === note ? '' : now));
    } finally {
      await refresh(); // also where it was refused: then another version is active
    }
  };
  return (
    <>
      <AgentHead agent={agent} refresh={refresh} />
      <div className="agent-body">
        <DefinitionEditor
          key={place}
          definition={draft}
          onChange={edit}
          onBroken={setBroken}
          form={<DefinitionForm definition={draft} onChange={edit} />}
          save={save}
          saveWords={`Save as version ${agent.latest_version + 1}`}
          places={places}
          isChanged={isChanged && mayWrite}
          isHeld={isBehind}
        >
          {isBehind && <BehindNotice follow={follow} />}
          {isChanged && mayWrite && <NoteField note={note} onChange={setNote} />}
        </DefinitionEditor>
        <div>
          {mayWrite && (
            <TryAgent definition={draft} isBroken={isBroken} other={isChanged ? agent.definition : undefined} />
          )}
          <AgentVersions agent={agent} versions={versions} onChanged={refresh} />
          <AgentTriggers agentId={agent.id} />
        </div>
      </div>
    </>
  );
}

interface NoteFieldProps {
  readonly note: string;
  readonly onChange: (note: string) => void;
}

const NoteField = ({ note, onChange }: NoteFieldProps) => (
  <TextField
    label="Why it is changed"
    name="note"
    hint="The note of the new version. It can be changed later."
    maxLength={2_000}
    value={note}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  />
);

function AgentHead({ agent, refresh }: Omit<OneAgentProps, 'versions'>) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const remove = async () => {
    await rondo.agents.delete(agent.id);
    await refreshKey(['agents']);
    await navigate({ to: '/agents' });
  };
  return (
    <ItemHead
      list={{ to: '/agents', name: 'Agents' }}
      title={agent.definition.name}
      crumb={<code>{agent.id}</code>}
      facts={<AgentTags agent={agent} refresh={refresh} />}
    >
      <span className="hint">
        Version {agent.version} of {agent.latest_version}
        {agent.is_default && ', the default of the account'}
      </span>
      {mayWrite && !agent.is_default && (
        <>
          <Action work={() => rondo.agents.update(agent.id, { is_default: true }).then(refresh)}>
            Make it the default
          </Action>
          <ConfirmedAction
            name="Delete"
            label="Delete this agent"
            question={`Delete “${agent.definition.name}” with all of its versions? Its runs stay.`}
            work={remove}
          />
        </>
      )}
    </ItemHead>
  );
}

/** An agent that is stored when it is saved. It can be tried before. */
export function NewAgentPage() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const [draft, setDraft] = useState<AgentDefinition>({ name: '' });
  const [isBroken, setBroken] = useState(false);
  const save = async () => {
    const agent = await rondo.agents.create({ definition: draft });
    await refreshKey(['agents']);
    await navigate({ to: '/agents/$agentId', params: { agentId: agent.id } });
  };
  return (
    <>
      <ItemHead list={{ to: '/agents', name: 'Agents' }} title="New agent" crumb="new" />
      <div className="agent-body">
        <DefinitionEditor
          definition={draft}
          onChange={setDraft}
          onBroken={setBroken}
          form={<DefinitionForm definition={draft} onChange={setDraft} />}
          save={save}
          saveWords="Create"
          places={places}
          isChanged={Object.values(draft).some((value) => value !== '')}
        />
        <TryAgent definition={draft} isBroken={isBroken} other={undefined} />
      </div>
    </>
  );
}

interface AgentTagsProps {
  readonly agent: Agent;
  readonly refresh: () => Promise<unknown>;
}

/** The tags, each a link to the agents that have it. A change makes no version. */
export function AgentTags({ agent: { id, tags }, refresh }: AgentTagsProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  const [isOpen, setOpen] = useState(false);
  const save = async (fields: FormData) => {
    const written = toText(fields, 'tags').split(',');
    await rondo.agents.update(id, { tags: written.filter((tag) => tag.trim() !== '') });
    await Promise.all([refresh(), refreshKey(['agents'])]);
    setOpen(false);
  };
  if (isOpen)
    return (
      <Form work={save} button="Save the tags" label="Tags" cancel={() => setOpen(false)}>
        <TextField label="Tags" name="tags" hint="With commas between them." defaultValue={tags.join(', ')} />
      </Form>
    );
  return (
    <p className="agent-tags">
      {tags.map((tag) => (
        <Link key={tag} className="tag" to="/agents" search={{ tag }}>
          {tag}
        </Link>
      ))}
      {mayWrite && (
        <button className="quiet" onClick={() => setOpen(true)}>
          {tags.length === 0 ? 'Add tags' : 'Change the tags'}
        </button>
      )}
    </p>
  );
}
