/**
 * Control characters that could move the cursor, change a terminal's title or hide text: all but tab and line feed, and the
 * marks that change the direction of text.
 */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g; // eslint-disable-line no-control-regex -- these are what it removes

/** Text that a terminal shows as it is. A carriage return becomes a line feed. */
export const printable = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(control, '');
