import { type Delta, type Fact, isDelta, logFlaws } from '@rondo/test-deployment';

/** What must be true of every run's log (I2, I3, I5, I6). */
export const expectWholeLog = (facts: readonly Fact[]): void => expect(logFlaws(facts)).toEqual([]);

/** The text of each stream that was not withdrawn, joined from deltas: what a subscriber displays (I13). */
export function joinDeltas(events: readonly (Fact | Delta)[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'iteration.restarted') {
      for (const id of event.data.withdrawn_stream_ids as string[]) shown.delete(id);
    }
    if (!isDelta(event) || event.type !== 'message.delta') continue;
    const text = shown.get(event.stream_id) ?? '';
    expect({ stream: event.stream_id, offset: event.offset }).toEqual({ stream: event.stream_id, offset: text.length });
    shown.set(event.stream_id, text + String(event.data.text));
  }
  return shown;
}

/** The text of each assistant message in the log. */
export const readAnswers = (facts: readonly (Fact | Delta)[]): Map<string, string> =>
  new Map(
    facts
      .filter(({ type, data }) => type === 'message.created' && data.message.type === 'assistant')
      .map(({ data }): [string, string] => [
        data.message.id as string,
        toText(data.message.content as { type: string; text: string }[]),
      ])
      .filter(([, text]) => text !== ''),
  );

const toText = (content: readonly { type: string; text: string }[]): string =>
  content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');

/** The text that a subscriber received for a message equals the stored one. After a message is stored, new subscribers receive only the fact. */
export function expectShownAsStored(events: readonly (Fact | Delta)[], facts: readonly Fact[]): void {
  const stored = readAnswers(facts);
  for (const [id, text] of joinDeltas(events)) expect({ id, text }).toEqual({ id, text: stored.get(id) });
}
