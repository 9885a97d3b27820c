import OpenAI from 'openai';

const client = new OpenAI();
const completion = await client.chat.completions.create({
  model: 'gpt-5.5',
  messages: [
    { role: 'developer', content: 'You speak like a sailor.' },
    { role: 'user', content: 'What is a promise?' },
  ],
});
console.log(completion.choices[0].message.content);
