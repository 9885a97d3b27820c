import type { ProgramRequest } from '@rondo/contract';
import type { CallToSend } from '../ports';
import type { ToolOutcome } from './ledgered-tools';

export type WantedCall = Pick<ProgramRequest, 'name' | 'arguments'>;

/** A program that makes these calls: those of an array at once, and the next ones when it has all answers. */
export class SimulatedProgram {
  /** How many answers it had each time that it was run. */
  readonly runs: number[] = [];

  constructor(private readonly batches: readonly (readonly WantedCall[])[]) {}

  run({ answers = [] }: Pick<CallToSend, 'answers'>): ToolOutcome {
    this.runs.push(answers.length);
    const all = this.batches
      .flat()
      .map((wanted, position) => ({ ...wanted, position, digest: JSON.stringify(wanted) }));
    const differs = answers.findIndex(({ digest }, index) => digest !== all[index]?.digest);
    if (differs >= 0) return { success: false, output: '', error: `Call ${differs} is another one.` };
    let first = 0;
    for (const batch of this.batches) {
      if (first === answers.length && batch.length > 0) return { requests: all.slice(first, first + batch.length) };
      first += batch.length;
    }
    return `It was told: ${answers.map(({ output, error }) => error ?? output).join(', ')}`;
  }
}
