'use strict';

/** Collects pieces of text up to a number of characters. */
class BoundedText {
  #pieces = [];
  #left;

  constructor(characters) {
    this.#left = characters;
  }

  get isFull() {
    return this.#left <= 0;
  }

  add(piece) {
    this.#pieces.push(piece.slice(0, Math.max(this.#left, 0)));
    this.#left -= piece.length;
  }

  get result() {
    return { text: this.#pieces.join(''), truncated: this.#left < 0 };
  }
}

module.exports = { BoundedText };
