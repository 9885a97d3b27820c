import { defineScript } from '../script/script';

export const summary = defineScript({
  description: 'Sums the conversation up: how many turns, which tools, and the beginning of what the user said.',
  play(_progress, _parameters, { turns }) {
    const said = turns.filter((turn) => turn.role === 'user').map(({ text }) => text.slice(0, 400));
    const called = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map(({ name }) => name) : []));
    const tools = called.length > 0 ? [...new Set(called)].join(', ') : 'none';
    return { text: `Summary of ${turns.length} turns. Tools used: ${tools}. The user said:\n${said.join('\n')}` };
  },
});
