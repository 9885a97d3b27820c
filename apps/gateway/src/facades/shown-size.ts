import { ApiError } from '../problems/api-error';

/** What one answer shows of threads, in characters. It is put together in memory, where it takes a multiple. */
const mostCharacters = 16 * 1024 * 1024;

/** Counts what one answer is to show, while it is read. */
export class ShownSize {
  private characters = 0;

  /** `advice`: what to do instead of what is too long. */
  constructor(private readonly advice = '') {}

  get isFull(): boolean {
    return this.characters > mostCharacters;
  }

  /** Returns how many characters it has. */
  count(shown: object): number {
    const { length } = JSON.stringify(shown);
    this.characters += length;
    return length;
  }

  /** The same. Throws `log_too_long` where all together is too long for an answer. */
  add(shown: object): number {
    const length = this.count(shown);
    this.requireSpace();
    return length;
  }

  addCharacters(characters: number): void {
    this.characters += characters;
    this.requireSpace();
  }

  /** Throws like `add`. */
  requireSpace(): void {
    if (!this.isFull) return;
    throw new ApiError('log_too_long', `This is longer than ${mostCharacters} characters. ${this.advice}`);
  }
}
