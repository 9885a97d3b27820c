import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const CalendarEvent = z.object({ name: z.string(), date: z.string(), participants: z.array(z.string()) });

const client = new OpenAI();
const response = await client.responses.parse({
  model: 'gpt-5.5',
  input: [
    { role: 'system', content: 'Find the event in the text.' },
    { role: 'user', content: 'Ada and Grace visit the fair on Friday.' },
  ],
  text: { format: zodTextFormat(CalendarEvent, 'event') },
});
const { name, date, participants } = response.output_parsed;
console.log(name, date, participants.length);
