import { type Skill, type SkillVersion, take, type Rondo } from '@rondo/client';
import { plainText } from '@rondo/react';
import { useQuery, queryOptions } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { ShownFile, readFile } from '../sandboxes/shown-file.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { bytes, moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Failure, Loading, NotAll } from '../ui/states.tsx';
import { ChoiceField } from '../ui/fields.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { saveAs } from '../ui/save-as.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { unfinished } from '../runs/at-work.ts';

const route = getRouteApi('/agents/skills/$skillId');
const list = { to: '/agents/skills', name: 'Skills' };

/** A skill: what each version says of itself, and its files. */
export function SkillPage() {
  const { skillId } = route.useParams();
  const search = route.useSearch();
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['skill', skillId],
    queryFn: async ({ signal }) => {
      const [skill, versions] = await Promise.all([
        rondo.skills.get(skillId, { signal }),
        take(rondo.skills.versions(skillId, { limit: 100 }), 1_000),
      ]);
      return { skill, versions };
    },
  });
  if (hasNothing(error, data)) return <FailurePage error={error} list={list} />;
  if (!data) return <Loading what="the skill" />;
  const { skill, versions } = data;
  const shown = versions.items.find(({ version }) => version === (search.version ?? skill.version));
  return (
    <>
      <ItemHead list={list} crumb={<code>{skill.id}</code>} title={skill.name}>
        <SkillActions skill={skill} version={shown?.version ?? skill.version} />
      </ItemHead>
      <VersionChoice versions={versions.items} shown={shown?.version} />
      <NotAll list={versions} what="versions" />
      {shown ? (
        <About skill={skill} version={shown} />
      ) : (
        <p role="alert">There is no version {search.version} among these.</p>
      )}
      {shown && <Files key={shown.version} version={shown} path={search.path ?? 'SKILL.md'} />}
    </>
  );
}

function SkillActions({ skill: { id, name }, version }: { readonly skill: Skill; readonly version: number }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const download = async () => saveAs(`${name}-${version}.zip`, await (await rondo.skills.content(id, version)).blob());
  const remove = async () => {
    await rondo.skills.delete(id);
    await refreshKey(['skills']);
    await navigate({ to: '/agents/skills' });
  };
  return (
    <>
      <Action work={download}>Download version {version}</Action>
      {mayWrite && (
        <ConfirmedAction
          name="Delete"
          label="Delete this skill"
          question={`Delete ${name} with all its versions? Runs that name it are refused from then on.`}
          work={remove}
        />
      )}
    </>
  );
}

interface VersionChoiceProps {
  readonly versions: readonly SkillVersion[];
  readonly shown: number | undefined;
}

function VersionChoice({ versions, shown }: VersionChoiceProps) {
  const { path } = route.useSearch();
  const { skillId } = route.useParams();
  const navigate = useNavigate();
  const choose = (version: string) =>
    void navigate({
      to: '/agents/skills/$skillId',
      params: { skillId },
      search: { version: Number(version), ...(path !== undefined && { path }) },
    });
  const newest = versions[0]?.version;
  return (
    <div className="narrow">
      <ChoiceField
        label="Version"
        value={shown ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        options={versions.map(({ version, created_at: at }) => [
          `${version}`,
          `${version}, of ${moment(at)}${version === newest ? ' (newest)' : ''}`,
        ])}
      />
    </div>
  );
}

function About({ skill, version }: { readonly skill: Skill; readonly version: SkillVersion }) {
  const { description, license, compatibility, allowed_tools: tools, sha256 } = version;
  const said = [
    ['What it is for', description],
    ['License', license],
    ['What it needs', compatibility],
    ['Tools it expects', tools.join(', ')],
    ...Object.entries(version.metadata),
  ] as const;
  return (
    <dl className="about">
      {said.map(([name, value]) => value !== null && value !== '' && <Said key={name} name={name} value={value} />)}
      <div>
        <dt>Used by</dt>
        <dd>
          <SkillUses skill={skill} />
        </dd>
      </div>
      <div>
        <dt>SHA-256</dt>
        <dd>
          <code>{sha256}</code>
        </dd>
      </div>
    </dl>
  );
}

const Said = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd dir="auto">{plainText(value)}</dd>
  </div>
);

interface FilesProps {
  readonly version: SkillVersion;
  /** The file that is shown. */
  readonly path: string;
}

function Files({ version: { skill_id: id, version }, path }: FilesProps) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['skill files', id, version],
    queryFn: ({ signal }) => rondo.skills.files(id, version, { signal }),
    staleTime: Infinity,
  });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="its files" />;
  return (
    <div className="section sandbox-body">
      <section className="tree" aria-label="Files">
        <ul className="files">
          {data.map((file) => (
            <li key={file.path}>
              <Link
                to="/agents/skills/$skillId"
                params={{ skillId: id }}
                search={{ version, path: file.path }}
                aria-current={file.path === path ? 'true' : undefined}
              >
                {plainText(file.path)}
              </Link>
              <span className="hint">
                {bytes(file.size)}
                {file.is_executable && ', a program'}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <FileOfVersion key={path} id={id} version={version} path={path} />
    </div>
  );
}

interface FileOfVersionProps {
  readonly id: string;
  readonly version: number;
  readonly path: string;
}

function FileOfVersion({ id, version, path }: FileOfVersionProps) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['skill file', id, version, path],
    queryFn: async ({ signal }) => readFile(await rondo.skills.file(id, version, { path }, { signal })),
    staleTime: Infinity,
  });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="the file" />;
  return (
    <section className="file" aria-label={plainText(path)}>
      <header>
        <h2>
          <code>{plainText(path)}</code>
        </h2>
      </header>
      <ShownFile content={data.content} path={path} />
    </section>
  );
}

/** The agents whose active version names the skill, and the unfinished runs that have it. */
const usesOfSkill = (rondo: Rondo, { id, name }: Skill) =>
  queryOptions({
    queryKey: ['skill uses', id],
    queryFn: async () => {
      const [agents, runs] = await Promise.all([
        take(rondo.agents.list({ limit: 100 }), 500),
        take(rondo.runs.list({ limit: 100, status: unfinished }), 500),
      ]);
      return {
        agents: agents.items.flatMap((agent) => {
          const choice = agent.definition.skills?.find((one) => one.name === name);
          return choice ? [{ id: agent.id, name: agent.definition.name, version: choice.version }] : [];
        }),
        runs: runs.items.flatMap((run) => {
          const choice = run.settings.skills?.find((one) => one.id === id);
          return choice ? [{ id: run.id, version: choice.version }] : [];
        }),
      };
    },
    refetchInterval: 5_000,
  });

/** Who uses a skill. While such a run is not finished, the skill cannot be deleted. */
export function SkillUses({ skill }: { readonly skill: Skill }) {
  const { data } = useQuery(usesOfSkill(useRondo(), skill));
  if (!data) return '…';
  if (data.agents.length + data.runs.length === 0) return 'no agent, and no run that goes on';
  return (
    <ul>
      {data.agents.map(({ id, name, version }) => (
        <li key={id}>
          <Link to="/agents/$agentId" params={{ agentId: id }} dir="auto">
            {name}
          </Link>
          <span className="hint"> an agent, {version === undefined ? 'the newest version' : `version ${version}`}</span>
        </li>
      ))}
      {data.runs.map(({ id, version }) => (
        <li key={id}>
          <Link to="/runs/$runId" params={{ runId: id }}>
            <code>{id}</code>
          </Link>
          <span className="hint"> a run that goes on, version {version}</span>
        </li>
      ))}
    </ul>
  );
}
