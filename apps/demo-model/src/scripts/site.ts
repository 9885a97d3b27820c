import { defineScript } from '../script/script';
import type { AssistantTurn } from '../script/script-conversation';
import type { Turn } from '../script/turn';

const colours = ['red', 'orange', 'gold', 'green', 'teal', 'blue', 'purple', 'black'] as const;
const directory_path = 'site';
const file_path = `${directory_path}/index.html`;

/** The page is of the first colour that the task names. */
function toPage(task: string): string {
  const colour = colours.find((one) => new RegExp(`\\b${one}\\b`, 'i').test(task)) ?? 'teal';
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>A small site</title>
  <style>
    body { display: grid; min-height: 100vh; margin: 0; place-content: center; font: 1.2rem system-ui; text-align: center; }
    body { background: ${colour}; color: white; }
  </style>
  <h1>A small site in ${colour}</h1>
  <p>An agent wrote this page in its sandbox, and published it.</p>
</html>
`;
}

export const site = defineScript({
  description: 'Writes a page in a colour that the task names, publishes it, and changes it when it is asked again.',
  tools: ['create_file', 'full_file_rewrite', 'deploy', 'complete'],
  play({ task, steps }): Turn {
    const last = steps.at(-1);
    if (!last) return { text: 'I write the page.', calls: [write('create_file', task)] };
    const { name, result = '' } = last.calls[0] ?? { name: '' };
    if (name === 'complete') return { text: 'The site is done.' };
    if (name === 'create_file' && result.includes('exist'))
      return { text: 'The page is there already, so I write it anew.', calls: [write('full_file_rewrite', task)] };
    if (name !== 'deploy')
      return { text: 'Now I publish it.', calls: [{ name: 'deploy', arguments: { directory_path } }] };
    return { calls: [{ name: 'complete', arguments: report(last) }] };
  },
});

const write = (name: string, task: string) => ({ name, arguments: { file_path, file_contents: toPage(task) } });

const report = ({ calls }: AssistantTurn) =>
  calls[0]?.result?.includes('http') === true
    ? { text: 'The site is published.', attachments: file_path, follow_up_prompts: ['Make it orange.'] }
    : { text: `The page is written, but it could not be published: ${calls[0]?.result ?? ''}` };
