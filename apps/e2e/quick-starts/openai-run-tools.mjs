import OpenAI from 'openai';

const client = new OpenAI();
const runner = client.chat.completions
  .runTools({
    model: 'gpt-5.5',
    messages: [{ role: 'user', content: 'How is the weather in Bergen this week?' }],
    tools: [
      {
        type: 'function',
        function: {
          function: ({ city }) => `Rain in ${city}.`,
          parse: JSON.parse,
          name: 'get_weather',
          description: 'Tells the weather of a city.',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ],
  })
  .on('functionToolCallResult', (result) => console.log(result));
console.log(await runner.finalContent());
