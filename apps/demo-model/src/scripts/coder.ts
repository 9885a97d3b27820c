import type { AssistantTurn } from '../script/script-conversation';
import { defineScript } from '../script/script';
import type { Turn } from '../script/turn';

const file_path = 'fizzbuzz.sh';
const command = `sh ${file_path} 15`;

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

export const coder = defineScript({
  description: 'Writes a small program, runs it, sees that it is wrong, mends it, runs it again and reports.',
  tools: ['create_file', 'full_file_rewrite', 'execute_command', 'str_replace', 'complete'],
  play({ steps }): Turn {
    const last = steps.at(-1);
    if (!last) return write();
    if (did(last, 'complete')) return { text: 'The work is done.' };
    if (did(last, 'create_file')) return answerTo(last).includes('exist') ? overwrite() : run('Now I run it.');
    if (did(last, 'execute_command')) return judge(steps, answerTo(last));
    return run('I run it again.');
  },
});

const write = (): Turn => ({
  text: 'I will write FizzBuzz as a shell script, then try it.',
  calls: [{ name: 'create_file', arguments: { file_path, file_contents: firstDraft } }],
});

const overwrite = (): Turn => ({
  text: 'The file is already there, so I write it anew.',
  calls: [{ name: 'full_file_rewrite', arguments: { file_path, file_contents: firstDraft } }],
});

const run = (text: string): Turn => ({
  text,
  calls: [{ name: 'execute_command', arguments: { command, blocking: true, timeout: 30 } }],
});

function judge(steps: readonly AssistantTurn[], output: string): Turn {
  if (output.includes('FizzBuzz'))
    return finish(`I wrote ${file_path}, found one mistake in it and mended it.`, output);
  if (!output.includes('Fizz')) return finish(`I wrote ${file_path}, but it did not run.`, output);
  if (steps.some((step) => did(step, 'str_replace'))) return finish('I could not mend the mistake.', output);

  return {
    text: 'Fifteen must say FizzBuzz, but it says Fizz: the test for both has to come first.',
    calls: [{ name: 'str_replace', arguments: { file_path, old_str, new_str } }],
  };
}

const finish = (report: string, output: string): Turn => ({
  calls: [{ name: 'complete', arguments: { text: `${report} The last run answered:\n${output.slice(0, 1000)}` } }],
});

const did = (step: AssistantTurn, tool: string): boolean => step.calls.some(({ name }) => name === tool);

const answerTo = (step: AssistantTurn): string => step.calls[0]?.result ?? '';
