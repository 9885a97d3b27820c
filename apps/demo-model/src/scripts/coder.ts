import { defineScript } from '../script/script';
import type { AssistantTurn, Conversation } from '../script/script-conversation';
import type { Turn } from '../script/turn';

const file = 'fizzbuzz.sh';
const command = `sh ${file} 15`;

/** It contains a bug on purpose (numbers that both three and five divide), which the first run reveals. */
const firstDraft = `#!/bin/sh
# Counts to $1; says Fizz for multiples of three, Buzz for multiples of five and FizzBuzz for both.
i=1
while [ "$i" -le "$1" ]; do
  if [ $((i % 3)) -eq 0 ]; then echo Fizz
  elif [ $((i % 5)) -eq 0 ]; then echo Buzz
  else echo "$i"
  fi
  i=$((i + 1))
done
`;
const old_str = 'if [ $((i % 3)) -eq 0 ]; then echo Fizz\n';
const new_str = `if [ $((i % 15)) -eq 0 ]; then echo FizzBuzz\n  el${old_str}`;

type Call = NonNullable<Turn['calls']>[number];

/** The tools of a profile, as the coder uses them. */
interface Toolkit {
  readonly needs: readonly string[];
  readonly write: Call;
  /** Absent: a file that is already there is tried as it is. */
  readonly overwrite?: Call;
  readonly run: Call;
  readonly mend: Call;
}

const sunaToolkit: Toolkit = {
  needs: ['create_file', 'full_file_rewrite', 'execute_command', 'str_replace', 'complete'],
  write: { name: 'create_file', arguments: { file_path: file, file_contents: firstDraft } },
  overwrite: { name: 'full_file_rewrite', arguments: { file_path: file, file_contents: firstDraft } },
  run: { name: 'execute_command', arguments: { command, blocking: true, timeout: 30 } },
  mend: { name: 'str_replace', arguments: { file_path: file, old_str, new_str } },
};

const iiToolkit: Toolkit = {
  needs: ['str_replace_editor', 'bash'],
  write: { name: 'str_replace_editor', arguments: { command: 'create', path: file, file_text: firstDraft } },
  run: { name: 'bash', arguments: { command } },
  mend: { name: 'str_replace_editor', arguments: { command: 'str_replace', path: file, old_str, new_str } },
};

/** In one decision the program is written, mended and run. */
const inOneCommand: Call = {
  name: 'execute_command',
  arguments: {
    command: `cat > ${file} <<'END'\n${firstDraft.replace(old_str, new_str)}END\n${command}`,
    blocking: true,
    timeout: 30,
  },
};

export const coder = defineScript({
  description: 'Writes a small program, runs it, sees that it is wrong, mends it, runs it again and reports.',
  tools: ({ offeredTools }) => {
    if (has(offeredTools, iiToolkit.needs) || isSingleDecision(offeredTools)) return [];
    return sunaToolkit.needs;
  },
  play({ steps }, _, { offeredTools }): Turn {
    if (isSingleDecision(offeredTools)) return steps.length === 0 ? { calls: [inOneCommand] } : { text: 'It is done.' };
    const toolkit = has(offeredTools, sunaToolkit.needs) ? sunaToolkit : iiToolkit;
    const last = steps.at(-1);
    if (!last) return { text: 'I will write FizzBuzz as a shell script, then try it.', calls: [toolkit.write] };
    if (enders.some((name) => did(last, name))) return { text: 'The work is done.' };
    if (did(last, toolkit.run.name)) return judge(steps, { toolkit, offeredTools });
    if (steps.some((step) => did(step, toolkit.run.name))) return { text: 'I run it again.', calls: [toolkit.run] };
    if (toolkit.overwrite && did(last, toolkit.write.name) && answerTo(last).includes('exist'))
      return { text: 'The file is already there, so I write it anew.', calls: [toolkit.overwrite] };
    return { text: 'Now I run it.', calls: [toolkit.run] };
  },
});

const has = (offered: readonly string[], needs: readonly string[]): boolean =>
  needs.every((name) => offered.includes(name));

/** The profile of single decisions has no tool that ends a run, and no other editor. */
const isSingleDecision = (offered: readonly string[]): boolean =>
  has(offered, ['execute_command', 'writeCode']) && !has(offered, sunaToolkit.needs);

function judge(
  steps: readonly AssistantTurn[],
  { toolkit, offeredTools }: Pick<Conversation, 'offeredTools'> & { readonly toolkit: Toolkit },
): Turn {
  const output = steps.at(-1)?.calls[0]?.result ?? '';
  const finish = (report: string) =>
    toReport(`${report} The last run answered:\n${output.slice(0, 1000)}`, offeredTools);
  if (output.includes('FizzBuzz')) return finish(`I wrote ${file}, found one mistake in it and mended it.`);
  if (!output.includes('Fizz')) return finish(`I wrote ${file}, but it did not run.`);
  if (steps.filter((step) => did(step, toolkit.run.name)).length > 1) return finish('I could not mend the mistake.');
  return {
    text: 'Fifteen must say FizzBuzz, but it says Fizz: the test for both has to come first.',
    calls: [toolkit.mend],
  };
}

const enders = ['complete', 'return_control_to_user'];

/** The report, in the tool that ends the run or beside it. */
function toReport(text: string, offered: readonly string[]): Turn {
  if (offered.includes('complete')) return { calls: [{ name: 'complete', arguments: { text } }] };
  if (offered.includes('return_control_to_user'))
    return { text, calls: [{ name: 'return_control_to_user', arguments: {} }] };
  return { text };
}

const did = (step: AssistantTurn, tool: string): boolean => step.calls.some(({ name }) => name === tool);

const answerTo = (step: AssistantTurn): string => step.calls[0]?.result ?? '';
