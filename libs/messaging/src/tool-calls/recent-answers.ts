import type { CallKey } from '../connection/subjects';

const keptCharacters = 4_000_000;

/**
 * The newest answers of calls that leave no other trace, a few megabytes, for whoever missed one. What is forgotten is
 * worked out again.
 */
export class RecentAnswers {
  private readonly answers = new Map<string, string>();
  private length = 0;

  keep(key: CallKey, json: string): void {
    if (this.find(key) !== undefined) return;
    this.answers.set(nameOf(key), json);
    this.length += json.length;
    for (const [name, { length }] of this.answers) {
      if (this.length <= keptCharacters) return;
      this.answers.delete(name);
      this.length -= length;
    }
  }

  /** JSON. */
  find(key: CallKey): string | undefined {
    return this.answers.get(nameOf(key));
  }
}

const nameOf = ({ callId, attempt }: CallKey): string => `${callId}.${attempt}`;
