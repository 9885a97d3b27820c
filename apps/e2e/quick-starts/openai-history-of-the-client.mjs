import OpenAI from 'openai';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';

const client = new OpenAI();
const settings = { model: 'gpt-5.5', reasoning: { effort: 'high' } };

const input = [{ role: 'user', content: 'Write a checker of words.' }];
const first = await client.responses.create({ ...settings, input });
console.log(first.output_text);

input.push(...toResponseInputItems(first.output), { role: 'user', content: 'Now with hints.' });
const second = await client.responses.create({ ...settings, input });
console.log(second.output_text);
