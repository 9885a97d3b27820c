import OpenAI from 'openai';

const client = new OpenAI();
const tools = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Where it is' } },
      required: ['city'],
      additionalProperties: false,
    },
    strict: true,
  },
];
const getWeather = ({ city }) => `Rain in ${city}.`;

const input = [{ role: 'user', content: 'Do I need an umbrella in Bergen?' }];
const first = await client.responses.create({ model: 'gpt-5.5', tools, input });
input.push(...first.output);
for (const item of first.output) {
  if (item.type !== 'function_call') continue;
  const output = getWeather(JSON.parse(item.arguments));
  console.log(output);
  input.push({ type: 'function_call_output', call_id: item.call_id, output });
}

const instructions = 'Answer only with what the tool has told you.';
const second = await client.responses.create({ model: 'gpt-5.5', instructions, tools, input });
console.log(second.output_text);
