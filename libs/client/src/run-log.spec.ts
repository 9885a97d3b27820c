import fc from 'fast-check';
import { MissingFactsError } from './errors.ts';
import type { StreamEvent } from './generated/api.ts';
import { RunLog } from './run-log.ts';
import type { RunView } from './run-view.ts';
import { eventsFrom, runEvents } from './testing/scripted-log.ts';

const createView = (events: readonly StreamEvent[]): RunView => {
  const log = new RunLog();
  for (const event of events) log.apply(event);
  return log.view;
};

const findLastSeq = (events: readonly StreamEvent[]): number => events.findLast(({ seq }) => seq !== null)?.seq ?? 0;

/** A place in the events, from 0 to 1; all are as likely. */
const place = fc.nat(1000).map((thousandths) => thousandths / 1000);
const places = fc.array(place, { maxLength: 5 });

describe('RunLog', () => {
  it('shows the same after any prefix that arrived over any number of connections', () => {
    fc.assert(
      fc.property(runEvents, places, place, (events, cuts, end) => {
        const until = Math.round(end * events.length);
        const positions = cuts.map((cut) => Math.round(cut * until)).sort((a, b) => a - b);
        const log = new RunLog();
        let from = 0;
        for (const position of [...positions, until]) {
          const missed = from + Math.ceil((position - from) / 2); // half of what follows happens without a connection
          const sent = eventsFrom(events.slice(0, position), { after: log.lastSeq, position: missed });
          for (const event of sent) log.apply(event);
          from = position;
        }
        expect(log.view).toEqual(createView(events.slice(0, until)));
      }),
    );
  });

  it('shows the same when events arrive twice, and says that nothing changed', () => {
    fc.assert(
      fc.property(runEvents, places, (events, doubled) => {
        const log = new RunLog();
        const again = new Set(doubled.map((each) => Math.floor(each * events.length)));
        events.forEach((event, index) => {
          log.apply(event);
          const before = log.view;
          if (!again.has(index)) return;
          for (const earlier of events.slice(Math.max(0, index - 5), index + 1)) expect(log.apply(earlier)).toBe(false);
          expect(log.view).toBe(before);
        });
        expect(log.view).toEqual(createView(events));
      }),
    );
  });

  it('that is rewound shows what it would have shown without the lost facts', () => {
    fc.assert(
      fc.property(runEvents, place, place, (events, end, lost) => {
        const shown = events.slice(0, Math.round(end * events.length));
        const from = Math.max(1, Math.ceil(lost * findLastSeq(shown)));
        const log = new RunLog();
        for (const event of shown) log.apply(event);
        const [first] = events;
        if (!first) return;
        log.apply({ ...first, seq: null, type: 'stream.rewound', data: { from } });
        const kept = events.filter(({ seq }) => seq !== null && seq < Math.min(from, findLastSeq(shown) + 1));

        expect(log.view).toEqual(createView(from > findLastSeq(shown) ? shown : kept));
      }),
    );
  });

  it('shows the same from the facts alone, once the run is over', () => {
    fc.assert(
      fc.property(runEvents, (events) => {
        expect(createView(events.filter(({ seq }) => seq !== null))).toEqual(createView(events));
      }),
    );
  });

  it('ends with no text that is still open, and with every call answered', () => {
    fc.assert(
      fc.property(runEvents, (events) => {
        const { rows, isOver, lastSeq } = createView(events);
        expect({ isOver, lastSeq }).toEqual({ isOver: true, lastSeq: findLastSeq(events) });
        for (const row of rows) {
          if (row.kind === 'message') expect(row).toMatchObject({ isOpen: false, message: { id: row.id } });
          if (row.kind === 'tool_call') expect(['completed', 'failed']).toContain(row.status);
        }
      }),
    );
  });

  it('never changes a view that it has given', () => {
    fc.assert(
      fc.property(runEvents, (events) => {
        const log = new RunLog();
        const given = events.map((event) => {
          log.apply(event);
          return [log.view, JSON.stringify(log.view)] as const;
        });
        for (const [view, text] of given) expect(JSON.stringify(view)).toBe(text);
      }),
    );
  });

  it('refuses facts that do not follow each other', () => {
    const [events = []] = fc.sample(runEvents, { numRuns: 1, seed: 1 });
    const [created, , third] = events.filter(({ seq }) => seq !== null);
    const log = new RunLog();
    if (created) log.apply(created);

    expect(() => third && log.apply(third)).toThrow(new MissingFactsError(2, 3));
    expect(log.lastSeq).toBe(1);
  });

  it('begins after a fact, if it is told so', () => {
    const [events = []] = fc.sample(runEvents, { numRuns: 1, seed: 1 });
    const log = new RunLog(2);

    for (const event of events) log.apply(event);

    expect(log.view).toMatchObject({ isOver: true, lastSeq: findLastSeq(events) });
  });

  it('passes over types of facts that it does not know', () => {
    const [events = []] = fc.sample(runEvents, { numRuns: 1, seed: 1 });
    const [created] = events;
    const log = new RunLog();
    if (created) log.apply(created);

    const unknown = { ...created, seq: 2, type: 'something.new' } as unknown as StreamEvent; // of a newer gateway
    expect(log.apply(unknown)).toBe(true);
    expect(log.view).toMatchObject({ lastSeq: 2, rows: [] });
  });

  it('passes over notices and pieces of texts that it does not know', () => {
    const [[created] = []] = fc.sample(runEvents, { numRuns: 1, seed: 1 });
    const log = new RunLog();
    if (created) log.apply(created);
    const { view } = log;

    const notice = { ...created, seq: null, type: 'stream.new', data: {} } as unknown as StreamEvent; // of a newer gateway
    const piece = { ...notice, type: 'new.delta', stream_id: 'x', offset: 0, after_seq: 1 } as unknown as StreamEvent;
    expect([log.apply(notice), log.apply(piece)]).toEqual([false, false]);
    expect(log.view).toBe(view);
  });
});
