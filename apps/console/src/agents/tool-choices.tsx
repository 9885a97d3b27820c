import { type AgentDefinition, type Tool, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';
import { type ToolChoice, toolChoice, withTool } from './definition-edits.ts';

interface ToolChoicesProps {
  readonly tools: AgentDefinition['tools'];
  readonly onChange: (tools: AgentDefinition['tools']) => void;
}

const choices: readonly (readonly [ToolChoice, string])[] = [
  ['profile', 'as the profile has it'],
  ['on', 'on'],
  ['approval', 'on, each call approved'],
  ['off', 'off'],
];

/** Which tools the agent has, and which of their calls a person approves. */
export function ToolChoices({ tools, onChange }: ToolChoicesProps) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['tools'],
    queryFn: () => take(rondo.tools(), 500),
    staleTime: 300_000,
  });
  const known = data?.items ?? [];
  const groups = [...new Set(known.map(({ group }) => group))];
  const set = Object.keys(tools ?? {}).length;
  return (
    <details className="tools">
      <summary>Tools{set > 0 && `, ${set} of them set here`}</summary>
      {groups.map((group) => (
        <fieldset key={group}>
          <legend>{group}</legend>
          {listTools(group, known).map((tool) => (
            <OneTool key={tool.name} tool={tool} known={known} tools={tools} onChange={onChange} />
          ))}
        </fieldset>
      ))}
    </details>
  );
}

/** The group itself can be set, and each of its tools. */
const listTools = (group: string, tools: readonly Tool[]): readonly Pick<Tool, 'name' | 'description'>[] => [
  { name: group, description: `All tools of the group ${group}` },
  ...tools.filter((tool) => tool.group === group),
];

interface OneToolProps extends ToolChoicesProps {
  readonly tool: Pick<Tool, 'name' | 'description'>;
  readonly known: readonly Tool[];
}

function OneTool({ tool, known, tools, onChange }: OneToolProps) {
  const { name, description } = tool;
  const choice = toolChoice(tools, name);
  return (
    <label className={choice === 'profile' ? 'tool' : 'tool set'} title={description}>
      <code>{name}</code>
      <select
        aria-label={name}
        value={choice}
        onChange={({ currentTarget }) => {
          const [chosen] = choices[currentTarget.selectedIndex] ?? ['profile'];
          onChange(withTool(tools, { name, choice: chosen }, known));
        }}
      >
        {choices.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
