const ends = ['run.completed', 'run.failed', 'run.stopped'];

/**
 * Reads a run that has ended: its status, whether its log is whole, and how often each of its steps was done, as its own notes in
 * the sandbox say. A step that is missing is a flaw unless its call is known to have an unclear outcome. `times` are those of its facts.
 */
export async function flawsOfRun(client, id, steps) {
  const run = await client.ask('GET', `/runs/${id}`);
  const facts = await readFacts(client, id);
  const calls = (await client.ask('GET', `/runs/${id}/tool-calls?limit=100`)).data;
  const notes = (calls.at(-1)?.result?.output ?? '').match(/step-\d+/g) ?? [];
  const count = (type) => facts.filter((fact) => fact.type === type).length;
  const unclear = count('tool.unknown');
  const expected = Array.from({ length: steps }, (_, index) => `step-${index + 1}`);
  const missing = expected.filter((step) => !notes.includes(step)).length;
  return {
    id,
    status: run.status,
    error: run.error?.code,
    flaws: logFlaws(facts),
    doubled: notes.length - new Set(notes).size,
    missing: run.status === 'completed' ? Math.max(0, missing - unclear) : 0,
    unclear,
    restarted: count('iteration.restarted'),
    retried: count('model.retried'),
    times: facts.map(({ at }) => Date.parse(at)),
  };
}

async function readFacts(client, id) {
  const facts = [];
  for (;;) {
    const page = await client.ask('GET', `/runs/${id}/events?after=${facts.at(-1)?.seq ?? 0}&limit=200`);
    facts.push(...page.data);
    if (page.data.length === 0 || facts.at(-1).seq >= page.head_seq) return facts;
  }
}

/** (I2) without gaps, and (I6) one end, at the end. */
export function logFlaws(facts) {
  const gaps = facts.filter(({ seq }, index) => seq !== index + 1).slice(0, 1);
  const terminal = facts.filter(({ type }) => ends.includes(type));
  return [
    ...gaps.map(({ seq }) => `there is a gap before seq ${seq}`),
    ...(terminal.length === 1 ? [] : [`${terminal.length} ends`]),
    ...(terminal.length === 1 && terminal[0] !== facts.at(-1) ? ['facts after the end'] : []),
  ];
}
