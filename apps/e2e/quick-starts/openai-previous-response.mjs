import OpenAI from 'openai';

const client = new OpenAI();
const first = await client.responses.create({ model: 'gpt-5.5', input: 'Tell me a joke.', store: true });
console.log(first.output_text);

const second = await client.responses.create({
  model: 'gpt-5.5',
  previous_response_id: first.id,
  input: [{ role: 'user', content: 'Why is that funny?' }],
  store: true,
});
console.log(second.output_text);
