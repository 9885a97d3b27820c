/** A line that reads as the head of a message or as a rule, and the tags that messages and summaries stand in. */
const marks = /^(?=[ \t]*(?:\[msg_|={4,}))|(?<=<)(?=\s*(?:\/\s*)?(?:EVENT|PREVIOUS SUMMARY)\b)/gim;

/**
 * A text for a place between marks, with a backslash before what could be taken for one of them. A message thus ends
 * where it ends, and what a tool put out never reads as the words of the user.
 */
export const quoteMarks = (text: string): string => text.replace(marks, '\\');
