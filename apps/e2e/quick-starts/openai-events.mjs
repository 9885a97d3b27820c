import OpenAI from 'openai';

const client = new OpenAI();
const stream = await client.responses.create({ model: 'gpt-5.5', input: 'What is in the directory?', stream: true });
for await (const event of stream) console.log(event.type);
