import { Agent, run } from '@openai/agents';

const history = new Agent({
  name: 'History Tutor',
  instructions: 'You explain what happened and why.',
  handoffDescription: 'Knows the past.',
});
const math = new Agent({
  name: 'Math Tutor',
  instructions: 'You explain each step.',
  handoffDescription: 'Knows numbers.',
});
const triage = Agent.create({
  name: 'Reception',
  instructions: 'You choose the tutor for a question.',
  handoffs: [history, math],
});

const result = await run(triage, 'Were there sharks before there were trees?');
console.log(`${result.lastAgent.name}: ${result.finalOutput}`);
