import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';

/** A small evaluation of one's own: each file is an example of what it may contain. Paths are below its folder. */
export const starterFiles: Readonly<Record<string, string>> = {
  'README.md': `# An evaluation

Change the files, then run the steps. \`rondo help eval run\` has all options.

- \`tasks.jsonl\`: the questions, a JSON object in each line, one for each way to compare an answer
- \`files/\`: what tasks name as \`file_name\`
- \`agents.yaml\`: what is compared: models and context strategies
- \`prompts/question.md\`: the text around a question
- \`prompts/judge.md\`: what a judge model goes by, for the tasks with the scorer \`judge\`

Store the agents, let each answer all tasks, and have the answers judged. A step that was interrupted is repeated: it goes on where
it was.

\`\`\`sh
npx rondo agents apply -f agents.yaml
for agent in plain thinking head-tail summary; do
  npx rondo eval run tasks.jsonl --agent $agent --name $agent --prompt prompts/question.md --concurrency 3
  npx rondo eval score output/validation/$agent.jsonl --judge-model demo/judge --judge-prompt prompts/judge.md
done
npx rondo eval compare output/validation/plain.jsonl output/validation/thinking.jsonl
npx rondo eval report output/validation/*.jsonl -o report.html
\`\`\`

The \`demo/\` models need no key and only repeat what they are asked: replace them in \`agents.yaml\` and above.
`,
  'tasks.jsonl': [
    { task_id: 'capital', question: 'What is the capital of Australia?', answer: 'Canberra' },
    { task_id: 'code', question: 'Which three letters does ISO 4217 give the euro?', answer: 'EUR', scorer: 'exact' },
    {
      task_id: 'sum',
      question: 'What do all the sales of the file add up to?',
      answer: 1234.5,
      scorer: 'number',
      tolerance: 0.01,
      file_name: 'files/sales.csv',
    },
    {
      task_id: 'greeting',
      question: 'Greet the reader in one sentence.',
      answer: '\\b(Hello|Hi|Welcome|Good (morning|day))\\b',
      scorer: 'regex',
    },
    {
      task_id: 'person',
      question: 'Answer with JSON: name and year of birth of the author of "Frankenstein".',
      answer: {
        type: 'object',
        properties: { name: { type: 'string', pattern: 'Shelley' }, born: { const: 1797 } },
        required: ['name', 'born'],
      },
      scorer: 'json_schema',
    },
    {
      task_id: 'advice',
      question: 'A colleague wants to store passwords in plain text. What do you say?',
      answer: 'Advises against it, names a password hash such as Argon2, scrypt or bcrypt, and is polite.',
      scorer: 'judge',
    },
  ]
    .map((task) => `${JSON.stringify(task)}\n`)
    .join(''),
  'files/sales.csv': 'month,sales\nJanuary,1000.00\nFebruary,234.50\n',
  'agents.yaml': `# What is compared: an agent in each document, with the fields of a definition (docs/agents.md of Rondo).
# Two models:
name: plain
model: demo/plain
---
name: thinking
model: demo/thinking
llm: { reasoning_effort: high }
---
# Two context strategies (docs/context.md), each with a context small enough to make a difference:
name: head-tail
model: demo/plain
context: { strategy: head_tail, token_threshold: 20000 }
---
name: summary
model: demo/plain
context: { strategy: summary, token_threshold: 20000 }
`,
  'prompts/question.md': `Answer the question below. If it names files, they are in your workspace. Check what you can check with your tools.
End with a line \`FINAL ANSWER:\` and after it nothing but the answer.

{question}
`,
  'prompts/judge.md': `You compare an answer with what a right answer says. It is right if it says all of that, in whatever words, and nothing
that contradicts it. Do not reward length, style or confidence.
`,
};

/** Writes the files of an evaluation into a folder. Replaces none. */
export function writeStarter(given: Given, { terminal }: Context): Promise<Ending> {
  const folder = given.args[0] ?? '.';
  const files = Object.entries(starterFiles).map(([name, text]) => ({ path: join(folder, name), text }));
  const existing = files.filter(({ path }) => existsSync(path));
  if (existing.length > 0) throw new UsageError(`${existing.map(({ path }) => path).join(', ')} exist already.`);
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  }
  if (terminal.isJson) terminal.json({ files: files.map(({ path }) => path) });
  else for (const { path } of files) terminal.line(path);
  terminal.note(`Begin with ${join(folder, 'README.md')}.`);
  return Promise.resolve('ok');
}
