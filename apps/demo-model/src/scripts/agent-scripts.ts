import { z } from 'zod';
import { defineScript } from '../script/script';

const agents = z
  .string()
  .transform((names) => names.split('+'))
  .pipe(z.array(z.string().min(1)).min(1).max(20));

const runAgent = (agent: string, input: string) => ({ name: 'run_agent', arguments: { agent, input } });

export const team = defineScript({
  description: 'Gives its task to several agents (`agents=a+b`) at the same time and reports what each has answered.',
  tools: ['run_agent'],
  parameters: { agents },
  play({ task, steps }, { agents: members }) {
    if (steps.length === 0) return { text: 'I ask the team.', calls: members.map((name) => runAgent(name, task)) };
    const asked = steps.flatMap(({ calls }) => calls); // calls that were sent while the reply streamed are steps of their own
    const answers = asked.map(({ result }, index) => `${members[index]}: ${result}`);
    return { text: `The team answered.\n${answers.join('\n')}` };
  },
});

export const pipeline = defineScript({
  description:
    'Gives its task to the first of several agents (`agents=a+b`), and to each other the answer of the one before.',
  tools: ['run_agent'],
  parameters: { agents },
  play({ task, steps }, { agents: stages }) {
    const input = steps.at(-1)?.calls[0]?.result ?? task;
    const next = stages[steps.length];
    return next === undefined ? { text: `The last stage answered.\n${input}` } : { calls: [runAgent(next, input)] };
  },
});

const part = (name: string): RegExp => new RegExp(`<${name}-(\\w+)>\\n(.*?)\\n</${name}-\\1>`, 's');
const plain = (text: string): string => text.replaceAll(/\W/g, '').toLowerCase();

export const judge = defineScript({
  description:
    'Judges an answer as `rondo eval score` asks: right if it is the true answer but for case, space and signs.',
  play({ task }) {
    const [, mark = '', answer = ''] = part('answer').exec(task) ?? [];
    const [, , trueAnswer = ''] = part('true-answer').exec(task) ?? [];
    if (mark === '') return { text: 'There is nothing to judge.' };
    const isRight = plain(answer) === plain(trueAnswer);
    return {
      text: `The answer says ${isRight ? 'the same' : 'something else'}.\nVERDICT-${mark}: ${isRight ? 'right' : 'wrong'}`,
    };
  },
});
