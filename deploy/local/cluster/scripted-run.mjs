export const command = (line) => ({
  name: 'execute_command',
  arguments: { command: line, blocking: true, timeout: 60 },
});

/** What creates a run in which the demo model replays these turns. `about` makes each conversation different. */
export const scripted = (about, turns) => ({
  model: 'demo/scripted',
  input: `${about}\n\`\`\`demo-script\n${JSON.stringify(turns)}\n\`\`\``,
  tools: ['execute_command'],
});
