import { Agent, run, user } from '@openai/agents';

const agent = new Agent({ name: 'Historian', instructions: 'You answer with a year.', model: 'gpt-5.5' });
const first = await run(agent, 'When did Rome fall?');
console.log(first.finalOutput);

const second = await run(agent, [...first.history, user('And in the east?')]);
console.log(second.finalOutput);
