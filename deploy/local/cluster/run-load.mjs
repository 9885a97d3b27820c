import { waitUntil } from './wait-until.mjs';

export const command = (line) => ({
  name: 'execute_command',
  arguments: { command: line, blocking: true, timeout: 60 },
});

/** What creates a run in which the demo model replays these turns. `about` makes each conversation different. */
export const scriptInput = (about, turns) => ({
  model: 'demo/scripted',
  input: `${about}\n\`\`\`demo-script\n${JSON.stringify(turns)}\n\`\`\``,
  tools: ['execute_command'],
});

const words = 'We go on, one step at a time, and write down what we have done. ';
const noted = 'steps.txt';

/** A run whose every step streams a text and then notes, with a command in its sandbox, that it was done. */
function steps(count) {
  const each = Array.from({ length: count }, (_, index) => ({
    ...{ text: words, pace_ms: 40, chunk_chars: 4 },
    calls: [command(`echo step-${index + 1} >> ${noted}; sleep 0.2`)],
  }));
  return [...each, { text: 'I read my notes.', calls: [command(`cat ${noted}`)] }, { text: 'All done.' }];
}

/** Lanes of runs, one after the other in each, until `stop`, which resolves with what became of all of them. */
export class RunLoad {
  #client;
  #steps;
  #isOver = false;
  #lanes;
  #ids = [];
  #ended = 0;

  constructor(client, { lanes, stepsOfRun = 6 }) {
    this.#client = client;
    this.#steps = stepsOfRun;
    this.#lanes = Array.from({ length: lanes }, (_, lane) => this.#drive(lane));
    for (const lane of this.#lanes) lane.catch(() => undefined); // `stop` rejects with it
  }

  /** Resolves when so many more runs have ended. */
  progress(runs) {
    const wanted = this.#ended + runs;
    return waitUntil('runs end', () => this.#ended >= wanted, { everyMs: 250 });
  }

  async stop() {
    this.#isOver = true;
    await Promise.all(this.#lanes);
    const runs = [];
    for (const id of this.#ids) runs.push(await flawsOfRun(this.#client, id, this.#steps));
    return { runs, requests: this.#client.requests, failures: this.#client.failures };
  }

  async #drive(lane) {
    for (let round = 1; !this.#isOver; round += 1) {
      const run = await this.#client.ask('POST', '/runs', this.#request(`Lane ${lane}, round ${round}`));
      this.#ids.push(run.id);
      await this.#client.waitForEnd(run.id);
      this.#ended += 1;
    }
  }

  #request(about) {
    return { ...scriptInput(about, steps(this.#steps)), agent: { system_prompt: 'You play a script.' } };
  }
}

const ends = ['run.completed', 'run.failed', 'run.stopped'];

/**
 * Reads a run that has ended: its status, whether its log is whole, and how often each of its steps was done, as its own notes in
 * the sandbox say. A step that is missing is a flaw unless its call is known to have an unclear outcome. `times` are those of its facts.
 */
async function flawsOfRun(client, id, steps) {
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
function logFlaws(facts) {
  const gaps = facts.filter(({ seq }, index) => seq !== index + 1).slice(0, 1);
  const terminal = facts.filter(({ type }) => ends.includes(type));
  return [
    ...gaps.map(({ seq }) => `there is a gap before seq ${seq}`),
    ...(terminal.length === 1 ? [] : [`${terminal.length} ends`]),
    ...(terminal.length === 1 && terminal[0] !== facts.at(-1) ? ['facts after the end'] : []),
  ];
}
