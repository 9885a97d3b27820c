import { flawsOfRun } from './run-flaws.mjs';
import { command, scripted } from './scripted-run.mjs';
import { waitUntil } from './wait-until.mjs';

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
      await this.#client.settled(run.id);
      this.#ended += 1;
    }
  }

  #request(about) {
    return { ...scripted(about, steps(this.#steps)), agent: { system_prompt: 'You play a script.' } };
  }
}
