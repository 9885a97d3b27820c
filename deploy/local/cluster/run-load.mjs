import { flawsOfRun } from './run-flaws.mjs';

const words = 'We go on, one step at a time, and write down what we have done. ';
const noted = 'steps.txt';

/** A run whose every step streams a text and then notes, with a command in its sandbox, that it was done. */
function steps(count) {
  const command = (line) => ({ name: 'execute_command', arguments: { command: line, blocking: true, timeout: 60 } });
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
  #ended = [];

  constructor(client, { lanes, stepsOfRun = 6 }) {
    this.#client = client;
    this.#steps = stepsOfRun;
    this.#lanes = Array.from({ length: lanes }, (_, lane) => this.#drive(lane));
    for (const lane of this.#lanes) lane.catch(() => undefined); // `stop` rejects with it
  }

  get ended() {
    return this.#ended.length;
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
      await this.#settled(run.id);
      this.#ended.push(run.id);
    }
  }

  #request(about) {
    const script = JSON.stringify(steps(this.#steps));
    return {
      ...{ model: 'demo/scripted', input: `${about}\n\`\`\`demo-script\n${script}\n\`\`\`` },
      ...{ agent: { system_prompt: 'You play a script.' }, tools: ['execute_command'] },
    };
  }

  async #settled(id) {
    for (;;) {
      const { status } = await this.#client.ask('GET', `/runs/${id}/wait?timeout_s=10`);
      if (/^(completed|failed|stopped|waiting_)/.test(status)) return;
    }
  }
}
