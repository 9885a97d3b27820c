import { Agent, run } from '@openai/agents';

const agent = new Agent({ name: 'Poet', instructions: 'You answer in verses.' });
const result = await run(agent, 'Write about functions that call themselves.');
console.log(result.finalOutput);
