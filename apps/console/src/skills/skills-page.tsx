import { type Skill, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { AgentTabs } from '../ui/tabs.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { age, bytes } from '../ui/amounts.ts';
import { DropFiles } from '../ui/drop-files.tsx';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

/** The skills that agents and runs of the account can name. */
export function SkillsPage() {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const now = useNow();
  const { data, error, refetch } = useQuery({
    queryKey: ['skills'],
    queryFn: () => take(rondo.skills.list({ limit: 100 }), 200),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Skills</h1>
        <AgentTabs />
      </div>
      {mayWrite && <UploadSkill />}
      {!data && <Loading what="skills" />}
      {data?.items.length === 0 && (
        <Empty title="No skills yet.">
          <p>
            A skill is a folder with instructions in its SKILL.md, and with the programs and references that these
            mention. An agent that names it finds the folder in its sandbox.
          </p>
        </Empty>
      )}
      <ul className="run-list agents" aria-label="Skills">
        {data?.items.map((skill) => (
          <SkillItem key={skill.id} skill={skill} now={now} />
        ))}
      </ul>
      <NotAll list={data} what="skills" />
    </>
  );
}

function SkillItem({ skill, now }: { readonly skill: Skill; readonly now: number }) {
  const { id, name, version, file_count: files, size, description, updated_at: at } = skill;
  return (
    <li>
      <Link to="/agents/skills/$skillId" params={{ skillId: id }}>
        <span className="run-title" dir="auto">
          {name}
        </span>
        <span className="run-facts">
          <span>version {version}</span>
          <span>{files === 1 ? 'one file' : `${files} files`}</span>
          <span>{bytes(size)}</span>
          <span dir="auto">{description}</span>
        </span>
        <time dateTime={at} title={new Date(at).toLocaleString()}>
          changed {age(at, now)}
        </time>
      </Link>
    </li>
  );
}

function UploadSkill() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const upload = async ([file]: readonly File[], say: (words: string) => void) => {
    if (!file) return '';
    say(`Uploading ${file.name} …`);
    const { name, version } = await rondo.skills.create({ [file.name]: file });
    await refreshKey(['skills']);
    return `${name} is stored; its newest version is ${version}.`;
  };
  return (
    <DropFiles
      button="Upload a skill"
      label="Skill to upload"
      hint="or drop it here: a zip archive of its folder, or a SKILL.md alone"
      accept=".zip,.md"
      upload={upload}
    />
  );
}
