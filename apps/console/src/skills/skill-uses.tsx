import { type Rondo, type Skill, take } from '@rondo/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unfinished } from '../runs/at-work.ts';
import { useRondo } from '../session/use-session.ts';

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
