import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';

const getWeather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `Rain in ${city}.`,
});
const agent = new Agent({ name: 'Forecaster', instructions: 'You use your tool.', tools: [getWeather] });

const result = await run(agent, 'What shall I wear in Bergen?', { stream: true });
result.toTextStream({ compatibleWithNodeStreams: true }).pipe(process.stdout);
await result.completed;
