import { defineScript } from '../script/script';

export const unknownTool = defineScript({
  description: 'Calls a tool that nobody offered and then does without it.',
  play({ steps }) {
    const last = steps.at(-1);
    if (last) return { text: `I will do without it. I was told: ${last.calls[0]?.result ?? ''}` };
    return { calls: [{ name: 'summon_dragon', arguments: { colour: 'green' } }] };
  },
});
