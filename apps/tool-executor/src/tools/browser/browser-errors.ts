/** What a person would see too: the page cannot be reached, the element is covered. The message is for the model. */
export class BrowserProblem extends Error {
  override readonly name: string = 'BrowserProblem';
}

/** The browser's own refusal of a command. */
export class CommandRefused extends BrowserProblem {
  override readonly name = 'CommandRefused';
}

/** The page runs a script that does not end, or is too large to be handled in time. */
export class PageUnresponsive extends Error {
  override readonly name = 'PageUnresponsive';

  constructor() {
    super('The page does not respond.');
  }
}

/** The browser has ended, or something else answers in its place. */
export class BrowserLost extends Error {
  override readonly name = 'BrowserLost';

  constructor(message = 'The browser has ended unexpectedly.') {
    super(message);
  }
}
