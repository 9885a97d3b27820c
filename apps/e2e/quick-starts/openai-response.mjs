import OpenAI from 'openai';

const client = new OpenAI();
const response = await client.responses.create({
  model: 'gpt-5.5',
  instructions: 'You are a patient teacher who speaks like a sailor.',
  input: 'What is a closure?',
});
console.log(response.output_text);
